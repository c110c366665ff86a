"""What a node is set up from: files, units and their document, whatever the COE and engine."""
