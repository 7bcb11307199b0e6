"""Rules on nodes, disks, images and pools."""
