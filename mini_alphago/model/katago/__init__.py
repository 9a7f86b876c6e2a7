"""KataGo's own networks: their files, what they compute, and the inputs they expect."""
