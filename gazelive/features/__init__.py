"""What saccades and fixations are like: scanpaths, kinematics, and what tells people apart."""
