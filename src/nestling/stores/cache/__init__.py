"""What is kept beside a nest so that searching need not read it all: disposable, checked, shared by processes."""
