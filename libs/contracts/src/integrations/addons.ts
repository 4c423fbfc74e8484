import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { AnyObject, maxId, Nullable } from '../schemas.ts';

const defineOperation = operationsOf('Addons');

/** What responses show instead of a sensitive parameter; in an update it keeps the stored value. */
export const maskedParameter = '*****';

export const AddonPath = Type.Object({
  id: Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the integration' }),
});

export const AddonParameter = Type.Object(
  {
    name: Type.String({ description: 'the name of the parameter' }),
    displayName: Type.String({ description: 'its name for people' }),
    type: Type.String({ description: 'the kind of form field: `url`, `text`, `textfield` or `list`' }),
    description: Type.Optional(Type.String({ description: 'what it is for' })),
    placeholder: Type.Optional(Type.String({ description: 'an example' })),
    required: Type.Boolean({ description: 'whether an integration must have it' }),
    sensitive: Type.Boolean({
      description: `whether it is a secret, which is stored encrypted and shown as \`${maskedParameter}\``,
    }),
  },
  { title: 'addonParameterSchema', description: 'A parameter of a kind of integration.' },
);

export const AddonProvider = Type.Object(
  {
    name: Type.String({ description: 'the name, which integrations have as `provider`' }),
    displayName: Type.String({ description: 'the name for people' }),
    description: Type.String({ description: 'what it does' }),
    documentationUrl: Type.String({ description: 'where it is described' }),
    howTo: Type.Optional(Type.String({ description: 'how to set it up' })),
    parameters: Type.Array(AddonParameter),
    events: Type.Array(Type.String(), { description: 'the types of events that it is made for' }),
    tagTypes: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), description: Type.String(), icon: Type.String() }), {
        description: 'the types of tags of flags that it reads',
      }),
    ),
    deprecated: Type.Optional(Type.String({ description: 'why no new integration of this kind can be created' })),
  },
  { title: 'addonTypeSchema', description: 'A kind of integration.' },
);
export type AddonProvider = Static<typeof AddonProvider>;

const maxListed = 1_000;
const list = (description: string) => Type.Array(Type.String({ maxLength: 255 }), { maxItems: maxListed, description });
const events = list(
  'the types of the events that are delivered; all types if it begins with `*`, which only administrators may choose',
);
const projects = list(
  'the projects whose events are delivered; those of all projects if it is empty or begins with `*`',
);
const environments = list(
  'the environments whose events are delivered; those of all environments if it is empty or begins with `*`',
);

export const Addon = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id' }),
    provider: Type.String({ description: 'the kind of integration' }),
    description: Type.Union([Type.String(), Type.Null()], { description: 'what it is for' }),
    enabled: Type.Boolean({ description: 'whether events are delivered' }),
    parameters: AnyObject({
      description: `the parameters of the provider; sensitive ones are \`${maskedParameter}\``,
    }),
    events,
    projects,
    environments,
  },
  { title: 'addonSchema', description: 'An integration: a destination of events.' },
);
export type Addon = Static<typeof Addon>;

export const Addons = Type.Object(
  {
    addons: Type.Array(Addon, { description: 'the integrations, in the order of their creation' }),
    providers: Type.Array(AddonProvider, { description: 'the kinds of integrations' }),
  },
  { title: 'addonsSchema', description: 'The integrations, and the kinds of them that can be created.' },
);

export const AddonBody = Type.Object(
  {
    provider: Type.String({ maxLength: 100, description: 'the kind of integration' }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }), { description: 'what it is for' })),
    enabled: Type.Boolean({ description: 'whether events are delivered' }),
    parameters: AnyObject({ description: 'the parameters of the provider' }),
    events,
    projects: Type.Optional(projects),
    environments: Type.Optional(environments),
  },
  { title: 'addonCreateUpdateSchema', description: 'The properties of an integration.' },
);
export type AddonBody = Static<typeof AddonBody>;

/** Whether messages of an integration have buttons by which people review change requests: administrators alone create and edit it. */
export function takesReviews({ provider, parameters }: Pick<AddonBody, 'provider' | 'parameters'>): boolean {
  return provider === 'slack-app' && parameters['signingSecret'] !== undefined;
}

/** Lists what the caller may see: an integration for hidden projects alone does not exist for a caller from whom they are hidden. */
export const ListAddons = defineOperation({
  subject: 'call.integrations.list-addons',
  operationId: 'getAddons',
  summary: 'List the integrations',
  description: 'Lists the integrations, and the kinds of them that can be created.',
  http: { method: 'GET', url: '/api/admin/addons' },
  permission: 'authenticated',
  reply: Addons,
});

export const GetAddon = defineOperation({
  subject: 'call.integrations.get-addon',
  summary: 'Get an integration',
  http: { method: 'GET', url: '/api/admin/addons/:id' },
  permission: 'authenticated',
  params: AddonPath,
  reply: Addon,
});

/** Emits `addon-config-created`, without the parameters. */
export const CreateAddon = defineOperation({
  subject: 'call.integrations.create-addon',
  summary: 'Create an integration',
  description: 'Creates an integration. It gets the events that are committed from then on.',
  http: {
    method: 'POST',
    url: '/api/admin/addons',
    status: 201,
    location: (_request: unknown, { id }: { id: number }) => `addons/${id}`,
  },
  permission: 'CREATE_ADDON',
  body: AddonBody,
  reply: Addon,
  errors: ['ValidationError', 'OperationDeniedError', 'ExceedsLimitError'],
});

/** Emits `addon-config-updated`, without the parameters. */
export const UpdateAddon = defineOperation({
  subject: 'call.integrations.update-addon',
  summary: 'Update an integration',
  description: `Replaces the properties of an integration. A parameter \`${maskedParameter}\` keeps its stored value.`,
  http: { method: 'PUT', url: '/api/admin/addons/:id' },
  ifMatch: 'integration',
  permission: 'UPDATE_ADDON',
  params: AddonPath,
  body: AddonBody,
  reply: Addon,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError'],
});

/** Emits `addon-config-deleted`, without the parameters. */
export const DeleteAddon = defineOperation({
  subject: 'call.integrations.delete-addon',
  summary: 'Delete an integration',
  description: 'Deletes an integration with all that waits for it. Deleting one that does not exist has no effect.',
  http: { method: 'DELETE', url: '/api/admin/addons/:id', anyContentType: true },
  permission: 'DELETE_ADDON',
  params: AddonPath,
  errors: [],
});
