import { type Static, Type } from 'typebox';
import { notBlank } from '../text-schemas.ts';
import { Nullable, Timestamp } from '../schema.ts';

const secret = Type.String({
  description:
    'the key itself when it was just created; later an identifying prefix and three dots. With GATEWAY_READABLE_SDK_TOKENS, lists show the key of an application to those who may create such keys',
});

/** An API token of an administrator or an application. */
export const ApiToken = Type.Object(
  {
    secret,
    tokenName: Type.String({ description: 'the name of the token' }),
    username: Type.String({ description: 'the same as `tokenName`' }),
    type: Type.Enum(['admin', 'client', 'frontend'], { type: 'string', description: 'the type of the token' }),
    environment: Type.String({ description: 'the environment of the token; `*` for all' }),
    project: Type.String({ description: 'the first of the projects' }),
    projects: Type.Array(Type.String(), { description: 'the projects of the token; `*` for all' }),
    alias: Nullable(Type.String(), { description: 'always null' }),
    createdAt: Timestamp('when the token was created'),
    expiresAt: Type.Optional(
      Nullable(Timestamp('until when the token works; null, or left out when it was just created: for ever')),
    ),
    seenAt: Type.Optional(
      Nullable(Timestamp('when the token was last used; null, or left out when it was just created: never')),
    ),
  },
  { title: 'apiTokenSchema', description: 'An API token of an administrator or an application.' },
);
export type ApiToken = Static<typeof ApiToken>;

export const ApiTokens = Type.Object(
  { tokens: Type.Array(ApiToken, { description: 'the tokens, newest last' }) },
  { title: 'apiTokensSchema', description: 'Keys of administrators and applications.' },
);
export type ApiTokens = Static<typeof ApiTokens>;

const name = Type.String({ maxLength: 255, ...notBlank, description: 'the name of the token' });
const projectIds = {
  minItems: 1,
  maxItems: 500,
  description: 'the projects of the token; default: all',
};

export const CreateApiTokenBody = Type.Object(
  {
    tokenName: Type.Optional(name),
    username: Type.Optional(name),
    type: Type.String({
      maxLength: 20,
      form: 'token-type',
      documentedPattern:
        '^([Cc][Ll][Ii][Ee][Nn][Tt]|[Bb][Aa][Cc][Kk][Ee][Nn][Dd]|[Ff][Rr][Oo][Nn][Tt][Ee][Nn][Dd]|[Aa][Dd][Mm][Ii][Nn])$',
      description: '`client`, `frontend` or `admin`, in any case',
    }),
    environment: Type.Optional(Type.String({ maxLength: 100, description: 'the environment of the token' })),
    project: Type.Optional(Type.String({ maxLength: 100, description: 'the only project of the token' })),
    projects: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), projectIds)),
    expiresAt: Type.Optional(Nullable(Timestamp('until when the token works; for ever when left out'))),
  },
  {
    title: 'createApiTokenSchema',
    description: 'The properties of a new token.',
    anyOf: [{ required: ['tokenName'] }, { required: ['username'] }],
  },
);
export type CreateApiTokenBody = Static<typeof CreateApiTokenBody>;

export const UpdateApiTokenBody = Type.Object(
  { expiresAt: Timestamp('until when the token works') },
  { title: 'updateApiTokenSchema', description: 'The properties of a token to change.' },
);
export type UpdateApiTokenBody = Static<typeof UpdateApiTokenBody>;
