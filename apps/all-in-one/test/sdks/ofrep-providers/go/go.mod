module bunting.test/ofrep

go 1.24

require (
	github.com/open-feature/go-sdk v1.15.1
	github.com/open-feature/go-sdk-contrib/providers/ofrep v0.1.6
)

require (
	github.com/go-logr/logr v1.4.3 // indirect
	go.uber.org/mock v0.5.2 // indirect
)
