// Package screen decides how output looks: aligned columns, colour where a person sees it,
// times told as a person would, and a picture redrawn in place on a terminal.
//
// It knows nothing of pools. The commands and the demo write through it.
package screen
