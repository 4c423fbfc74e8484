import { groupSchema } from './scim-groups.ts';
import { maxPageSize } from './scim-request.ts';
import { userSchema } from './scim-users.ts';

interface Attribute {
  readonly type?: 'string' | 'boolean' | 'complex' | 'reference';
  readonly required?: true;
  readonly multiValued?: true;
  readonly mutability?: 'readOnly' | 'immutable';
  /** the types of what a reference names, which RFC 7643 (7) wants of each */
  readonly referenceTypes?: readonly string[];
  readonly uniqueness?: 'server';
  readonly subAttributes?: readonly object[];
}

function attribute(name: string, description: string, characteristics: Attribute = {}): object {
  return {
    name,
    description,
    type: 'string',
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...characteristics,
  };
}

const schemas = [
  {
    id: userSchema,
    name: 'User',
    description: 'A user of Bunting.',
    attributes: [
      attribute('userName', 'The name of the user, unique without regard to case.', {
        required: true,
        uniqueness: 'server',
      }),
      attribute('displayName', 'The name that is shown.'),
      attribute('name', 'The parts of the name.', {
        type: 'complex',
        subAttributes: [
          attribute('formatted', 'The whole name.'),
          attribute('givenName', 'The given name.'),
          attribute('familyName', 'The family name.'),
        ],
      }),
      attribute('emails', 'The e-mail address: the primary one of those that are sent.', {
        type: 'complex',
        multiValued: true,
        subAttributes: [
          attribute('value', 'The address.'),
          attribute('type', 'Always work.'),
          attribute('primary', 'Always true.', { type: 'boolean' }),
        ],
      }),
      attribute('active', 'Whether the user may sign in and use keys.', { type: 'boolean' }),
      attribute('groups', 'The groups of the user.', {
        type: 'complex',
        multiValued: true,
        mutability: 'readOnly',
        subAttributes: [
          attribute('value', 'The id of the group.', { mutability: 'readOnly' }),
          attribute('display', 'The name of the group.', { mutability: 'readOnly' }),
          attribute('$ref', 'The address of the group.', {
            type: 'reference',
            referenceTypes: ['Group'],
            mutability: 'readOnly',
          }),
        ],
      }),
    ],
  },
  {
    id: groupSchema,
    name: 'Group',
    description: 'A group of users, which can have roles everywhere and in projects.',
    attributes: [
      attribute('displayName', 'The name of the group, unique without regard to case.', {
        required: true,
        uniqueness: 'server',
      }),
      attribute('members', 'The members.', {
        type: 'complex',
        multiValued: true,
        subAttributes: [
          attribute('value', 'The id of the user.'),
          attribute('display', 'The name of the user.', { mutability: 'readOnly' }),
          attribute('$ref', 'The address of the user; the value decides.', {
            type: 'reference',
            referenceTypes: ['User'],
            mutability: 'immutable',
          }),
          attribute('type', 'Always User.', { mutability: 'readOnly' }),
        ],
      }),
    ],
  },
];

function list(resources: readonly object[]): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** The documents from which SCIM clients learn what is supported (RFC 7644, 4), by path below the base URL. */
export function discoveryDocuments(base: string): ReadonlyMap<string, object> {
  const config = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxPageSize },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token of /api/admin/scim-settings.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
  const typeDocuments = schemas.map(({ id, name, description }) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    description,
    endpoint: `/${name}s`,
    schema: id,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }));
  const schemaDocuments = schemas.map((schema) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
  }));
  return new Map<string, object>([
    ['ServiceProviderConfig', config],
    ['ResourceTypes', list(typeDocuments)],
    ...typeDocuments.map((type): [string, object] => [`ResourceTypes/${type.id}`, type]),
    ['Schemas', list(schemaDocuments)],
    ...schemaDocuments.map((schema): [string, object] => [`Schemas/${schema.id}`, schema]),
  ]);
}
