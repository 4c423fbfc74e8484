// Evaluates the cases on standard input with OpenFeature's provider for Go, and writes their values to standard output.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

type testCase struct {
	Key  string `json:"key"`
	Type string `json:"type"`
	User string `json:"user"`
}

func main() {
	provider := ofrep.NewProvider(os.Getenv("OFREP_URL"), ofrep.WithBearerToken(os.Getenv("OFREP_TOKEN")))
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		log.Fatal(err)
	}
	var cases []testCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		log.Fatal(err)
	}
	client := openfeature.NewClient("test")
	ctx := context.Background()
	values := make([]any, len(cases))
	for index, one := range cases {
		user := openfeature.NewEvaluationContext(one.User, nil)
		var err error
		switch one.Type {
		case "boolean":
			values[index], err = client.BooleanValue(ctx, one.Key, false, user)
		case "string":
			values[index], err = client.StringValue(ctx, one.Key, "", user)
		case "integer":
			values[index], err = client.IntValue(ctx, one.Key, 0, user)
		case "number":
			values[index], err = client.FloatValue(ctx, one.Key, 0, user)
		default:
			values[index], err = client.ObjectValue(ctx, one.Key, nil, user)
		}
		if err != nil {
			log.Fatalf("%s for %s: %v", one.Key, one.User, err)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(values); err != nil {
		log.Fatal(err)
	}
}
