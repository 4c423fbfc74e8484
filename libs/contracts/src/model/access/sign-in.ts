import { type Static, Type } from 'typebox';
import { Nullable } from '../schema.ts';
import { emailAddress } from './account.ts';
import { linkSecret, password, username } from './sign-in-properties.ts';

export const LoginBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 255, description: 'the user name or the e-mail address' }),
    password,
  },
  { title: 'loginSchema', description: 'A user name or an e-mail address, and the password of the user.' },
);
export type LoginBody = Static<typeof LoginBody>;

/** The IP address of the client, which the gateway takes from the connection. */
export const ClientAddressQuery = Type.Object({ address: Type.String() });

/** The IP address and the browser of a client that starts a session, which the gateway takes from the connection and the headers. */
export const SessionClientQuery = Type.Object({
  address: Type.String(),
  userAgent: Type.Optional(
    Type.String({
      documentedPattern: '^[ -~]*$',
      description: 'the name of the browser, shown in lists of sessions',
    }),
  ),
});

const name = Type.Optional(Nullable(Type.String({ maxLength: 255 }), { description: 'the name of the user' }));

export const LinkSecretQuery = Type.Object({ token: linkSecret });

export const FirstAdminBody = Type.Object(
  { token: linkSecret, name, username, email: Type.Optional(emailAddress), password },
  { title: 'createFirstAdminSchema', description: 'The properties of the first administrator.' },
);
