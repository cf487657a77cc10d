import pytest

from gazelive.errors import ConfigError
from gazelive.live.wire.keys import load_client_keys, load_server_keys, make_keys

DAMAGED = [
    b"public-key = " + b"0000#" * 7 + b"#####",
    b"\xff\xfe not a key",
    b"public-key",
    b'public-key = "short"',
    b"public-key = " + b"~" * 40,
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_key_locks_out_its_owner_only(tmp_path, content):
    ann, bob = make_keys(tmp_path, "ann"), make_keys(tmp_path, "bob")
    (tmp_path / "allowed" / "bob.key").write_bytes(content)
    keys = load_server_keys(tmp_path)
    assert keys.allowed == {load_client_keys(ann).public}
    assert load_client_keys(bob).public not in keys.allowed
    [sentence] = keys.damaged
    assert "bob.key: is no key" in sentence


@pytest.mark.parametrize("content", DAMAGED)
@pytest.mark.parametrize("name", ["ann.key_secret", "server.key"])
def test_a_client_with_damaged_keys_is_told(tmp_path, name, content):
    ann = make_keys(tmp_path, "ann")
    (ann / name).write_bytes(content)
    with pytest.raises(ConfigError, match=f"{name}: is no key"):
        load_client_keys(ann)


def test_a_public_key_is_no_secret_one(tmp_path):
    ann = make_keys(tmp_path, "ann")
    (ann / "ann.key_secret").write_bytes((ann / "ann.key").read_bytes())
    with pytest.raises(ConfigError, match="holds no secret key"):
        load_client_keys(ann)
