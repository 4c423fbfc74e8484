import { operations } from '@bunting/contracts';
import { openApiDocument } from './document.ts';
import { documentFaults } from './document-faults.ts';

const document = openApiDocument(operations);
const faults = documentFaults(document);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
const count = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length;
console.log(
  `The OpenAPI document is sound: ${count} operations, ${Object.keys(document.components.schemas).length} schemas.`,
);
