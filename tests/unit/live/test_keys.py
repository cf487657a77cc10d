from gazelive.live.wire.keys import load_client_keys, load_server_keys, make_keys


def test_a_damaged_key_locks_out_its_owner_only(tmp_path):
    ann, bob = make_keys(tmp_path, "ann"), make_keys(tmp_path, "bob")
    (tmp_path / "allowed" / "bob.key").write_bytes(b"\xff\xfe not a key")
    keys = load_server_keys(tmp_path)
    assert keys.allowed == {load_client_keys(ann).public}
    assert load_client_keys(bob).public not in keys.allowed
    [sentence] = keys.damaged
    assert "bob.key: is no key" in sentence
