/** What a program needs to ask for one flag. */
interface ProgramValues {
  /** the address of Bunting, without a path */
  readonly origin: string;
  readonly token: string;
  readonly appName: string;
  readonly flag: string;
}

/** How an application in one language or framework is connected. */
export interface SdkProgram {
  readonly id: string;
  readonly label: string;
  /** `frontend` tokens get evaluated flags only, and may be public */
  readonly tokenType: 'client' | 'frontend';
  /** the command that adds the SDK to a program */
  readonly install: string;
  readonly file: string;

  readonly program: (values: ProgramValues) => string;
}

/** The shortest programs that ask for a flag, for each SDK. */
export const sdkPrograms: readonly SdkProgram[] = [
  {
    id: 'node',
    label: 'Node.js',
    tokenType: 'client',
    install: 'npm install unleash-client',
    file: 'index.mjs',
    program: ({ origin, token, appName, flag }) => `import { startUnleash } from 'unleash-client';

const flags = await startUnleash({
  url: '${origin}/api',
  appName: '${appName}',
  customHeaders: { Authorization: '${token}' },
});
const show = () => console.log('${flag}', flags.isEnabled('${flag}', { userId: '42' }));
show();
setInterval(show, 5_000);
`,
  },
  {
    id: 'python',
    label: 'Python',
    tokenType: 'client',
    install: 'pip install UnleashClient',
    file: 'main.py',
    program: ({ origin, token, appName, flag }) => `from UnleashClient import UnleashClient

flags = UnleashClient(
    url="${origin}/api",
    app_name="${appName}",
    custom_headers={"Authorization": "${token}"},
)
flags.initialize_client()
print("${flag}", flags.is_enabled("${flag}", {"userId": "42"}))
flags.destroy()
`,
  },
  {
    id: 'java',
    label: 'Java',
    tokenType: 'client',
    install: 'implementation("io.getunleash:unleash-client-java:12.2.3")  // build.gradle.kts',
    file: 'Main.java',
    program: ({ origin, token, appName, flag }) => `import io.getunleash.DefaultUnleash;
import io.getunleash.UnleashContext;
import io.getunleash.util.UnleashConfig;

public class Main {
  public static void main(String[] args) {
    var flags = new DefaultUnleash(UnleashConfig.builder()
        .unleashAPI("${origin}/api")
        .appName("${appName}")
        .instanceId("one")
        .apiKey("${token}")
        .synchronousFetchOnInitialisation(true)
        .build());
    var user = UnleashContext.builder().userId("42").build();
    System.out.println("${flag} " + flags.isEnabled("${flag}", user));
  }
}
`,
  },
  {
    id: 'go',
    label: 'Go',
    tokenType: 'client',
    install: 'go get github.com/Unleash/unleash-go-sdk/v5',
    file: 'main.go',
    program: ({ origin, token, appName, flag }) => `package main

import (
	"fmt"
	"net/http"

	"github.com/Unleash/unleash-go-sdk/v5"
	"github.com/Unleash/unleash-go-sdk/v5/context"
)

func main() {
	err := unleash.Initialize(
		unleash.WithUrl("${origin}/api/"),
		unleash.WithAppName("${appName}"),
		unleash.WithCustomHeaders(http.Header{"Authorization": {"${token}"}}),
		unleash.WithListener(unleash.DebugListener{}),
	)
	if err != nil {
		panic(err)
	}
	unleash.WaitForReady()
	user := unleash.WithContext(context.Context{UserId: "42"})
	fmt.Println("${flag}", unleash.IsEnabled("${flag}", user))
}
`,
  },
  {
    id: 'dotnet',
    label: '.NET',
    tokenType: 'client',
    install: 'dotnet add package Unleash.Client',
    file: 'Program.cs',
    program: ({ origin, token, appName, flag }) => `using Unleash;
using Unleash.ClientFactory;

var settings = new UnleashSettings
{
    UnleashApi = new Uri("${origin}/api/"),
    AppName = "${appName}",
    CustomHttpHeaders = new Dictionary<string, string> { ["Authorization"] = "${token}" },
};
var flags = await new UnleashClientFactory().CreateClientAsync(settings, synchronousInitialization: true);
Console.WriteLine("${flag} " + flags.IsEnabled("${flag}", new UnleashContext { UserId = "42" }));
`,
  },
  {
    id: 'rust',
    label: 'Rust',
    tokenType: 'client',
    install: 'cargo add unleash-api-client --features reqwest-client && cargo add tokio --features full',
    file: 'src/main.rs',
    program: ({
      origin,
      token,
      appName,
      flag,
    }) => `use unleash_api_client::{client::{ClientBuilder, FeatureKey}, context::Context};

#[derive(Debug, Clone, Copy)]
struct Asked;
impl FeatureKey for Asked {
    fn name(self) -> &'static str { "${flag}" }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let token = "${token}";
    let flags = ClientBuilder::default()
        .into_client::<Asked>("${origin}/api", "${appName}", "one", Some(token.into()))?;
    flags.register().await?;
    tokio::join!(flags.poll_for_updates(), async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let user = Context { user_id: Some("42".into()), ..Default::default() };
        println!("${flag} {}", flags.is_enabled(Asked, Some(&user), false));
    });
    Ok(())
}
`,
  },
  {
    id: 'php',
    label: 'PHP',
    tokenType: 'client',
    install: 'composer require unleash/client guzzlehttp/guzzle symfony/cache',
    file: 'index.php',
    program: ({ origin, token, appName, flag }) => `<?php
require 'vendor/autoload.php';

$flags = Unleash\\Client\\UnleashBuilder::create()
    ->withAppUrl('${origin}/api')
    ->withAppName('${appName}')
    ->withInstanceId('one')
    ->withHeader('Authorization', '${token}')
    ->build();
$user = new Unleash\\Client\\Configuration\\UnleashContext(currentUserId: '42');
echo '${flag} ', $flags->isEnabled('${flag}', $user) ? 'on' : 'off', PHP_EOL;
`,
  },
  {
    id: 'ruby',
    label: 'Ruby',
    tokenType: 'client',
    install: 'gem install unleash',
    file: 'main.rb',
    program: ({ origin, token, appName, flag }) => `require 'unleash'

flags = Unleash::Client.new(
  url: '${origin}/api',
  app_name: '${appName}',
  custom_http_headers: { 'Authorization': '${token}' }
)
puts "${flag} #{flags.is_enabled?('${flag}', Unleash::Context.new(user_id: '42'))}"
flags.shutdown
`,
  },
  {
    id: 'react',
    label: 'React',
    tokenType: 'frontend',
    install: 'npm install @unleash/proxy-client-react unleash-proxy-client',
    file: 'app.jsx',
    program: ({ origin, token, appName, flag }) => `import { FlagProvider, useFlag } from '@unleash/proxy-client-react';

const config = {
  url: '${origin}/api/frontend',
  clientKey: '${token}',
  appName: '${appName}',
  refreshInterval: 15,
  context: { userId: '42' },
};

function Feature() {
  return <p>${flag} is {useFlag('${flag}') ? 'on' : 'off'}</p>;
}

export default function App() {
  return <FlagProvider config={config}><Feature /></FlagProvider>;
}
`,
  },
  {
    id: 'browser',
    label: 'Browser',
    tokenType: 'frontend',
    install: 'npm install unleash-proxy-client',
    file: 'main.js',
    program: ({ origin, token, appName, flag }) => `import { UnleashClient } from 'unleash-proxy-client';

const flags = new UnleashClient({
  url: '${origin}/api/frontend',
  clientKey: '${token}',
  appName: '${appName}',
  context: { userId: '42' },
});
flags.on('ready', () => console.log('${flag}', flags.isEnabled('${flag}')));
await flags.start();
`,
  },
  {
    id: 'openfeature',
    label: 'OpenFeature (Node.js)',
    tokenType: 'client',
    install:
      'npm install @openfeature/server-sdk @openfeature/core @openfeature/ofrep-provider @openfeature/ofrep-core',
    file: 'index.mjs',
    program: ({ origin, token, flag }) => `import { OpenFeature } from '@openfeature/server-sdk';
import { OFREPProvider } from '@openfeature/ofrep-provider';

const headers = [['Authorization', 'Bearer ${token}']];
await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: '${origin}', headers }));
const flags = OpenFeature.getClient();
const { value, reason } = await flags.getBooleanDetails('${flag}', false, { targetingKey: '42' });
console.log('${flag}', value, reason);
`,
  },
  {
    id: 'curl',
    label: 'curl',
    tokenType: 'client',
    install: 'curl --version',
    file: 'terminal',
    program: ({ origin, token, flag }) => `curl '${origin}/ofrep/v1/evaluate/flags/${flag}' \\
  --header 'Authorization: Bearer ${token}' \\
  --header 'Content-Type: application/json' \\
  --data '{"context": {"targetingKey": "42"}}'
`,
  },
];
