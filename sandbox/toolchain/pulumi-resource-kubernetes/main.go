// Pulumi's Kubernetes provider as a program. Its own main package embeds files that only a release of the project
// generates; the ones below lie in its module, and the builder puts them beside this file before it compiles.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

var (
	//go:embed schema.json
	schema []byte

	//go:embed terraform-mapping.json
	mapping []byte
)

func main() {
	provider.Serve("kubernetes", version.Version, schema, mapping)
}
