import { httpOperations } from '@bunting/contracts';
import { parseArgs } from 'node:util';
import { openApiDocument } from '../http/openapi/openapi-document.ts';
import { faultsOfOpenApiDocument } from '../http/openapi/lint.ts';

const help = `Lints the OpenAPI document that the gateway serves, and prints each fault. It takes no options.

  npm run openapi:check`;

const lint = (): void => {
  const document = openApiDocument(httpOperations);
  const faults = faultsOfOpenApiDocument(document);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) {
    process.exitCode = 1;
    return;
  }
  const count = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length;
  console.log(
    `The OpenAPI document is sound: ${count} operations, ${Object.keys(document.components.schemas).length} schemas.`,
  );
};

const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
if (values.help) console.log(help);
else lint();
