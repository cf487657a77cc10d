"""`gazelive doctor`: is this computer ready for a session?"""
