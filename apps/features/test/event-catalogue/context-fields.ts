import {
  CreateContextField,
  DeleteContextField,
  RemoveLegalValue,
  SetLegalValue,
  UpdateContextField,
} from '@bunting/contracts';
import { type CatalogueRow, send, type Step } from '../event-catalogue.ts';
import { contextFieldNamed } from './fixtures.ts';

const createContextField = (name: string): Step => send(CreateContextField, { body: { name } });

export const contextFieldRows: readonly CatalogueRow[] = [
  {
    write: 'creating a context field',
    request: createContextField('country'),
    emits: [{ type: 'context-field-created', data: contextFieldNamed('country') }],
    repeated: 'is refused',
  },
  {
    write: 'updating a context field',
    given: createContextField('city'),
    request: send(UpdateContextField, { params: { name: 'city' }, body: { description: 'Where it is.' } }),
    emits: [
      {
        type: 'context-field-updated',
        preData: contextFieldNamed('city'),
        data: contextFieldNamed('city', 'Where it is.'),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'setting a legal value',
    given: createContextField('planet'),
    request: send(SetLegalValue, { params: { name: 'planet' }, body: { value: 'mars' } }),
    emits: [
      {
        type: 'context-field-updated',
        preData: contextFieldNamed('planet'),
        data: { ...contextFieldNamed('planet'), legalValues: [{ value: 'mars' }] },
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'removing a legal value',
    given: send(CreateContextField, { body: { name: 'moon', legalValues: [{ value: 'io' }] } }),
    request: send(RemoveLegalValue, { params: { name: 'moon', value: 'io' } }),
    emits: [
      {
        type: 'context-field-updated',
        preData: { ...contextFieldNamed('moon'), legalValues: [{ value: 'io' }] },
        data: contextFieldNamed('moon'),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting a context field',
    given: createContextField('street'),
    request: send(DeleteContextField, { params: { name: 'street' } }),
    emits: [{ type: 'context-field-deleted', preData: contextFieldNamed('street') }],
    repeated: 'is refused',
  },
];
