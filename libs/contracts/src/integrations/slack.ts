import { Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { maxId } from '../schemas.ts';

/** Answers once what the buttons ask for is stored: it is done afterwards, once, and the person is told of it in Slack. Emits no event. */
export const ReceiveSlackInteraction = defineOperation({
  subject: 'call.integrations.receive-slack-interaction',
  summary: 'Receive what people do with messages in Slack',
  description:
    'The Request URL of the interactivity of a Slack app. Requests are signed by Slack with the signing secret of the integration; unsigned, old and repeated ones are refused.',
  tag: 'Addons',
  isBuntingExtension: true,
  http: {
    method: 'POST',
    url: '/api/integrations/slack/:addonId/interactions',
    form: true,
    headers: { signature: 'x-slack-signature', timestamp: 'x-slack-request-timestamp' },
  },
  permission: 'public',
  params: Type.Object({
    addonId: Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the integration' }),
  }),
  query: Type.Object({
    signature: Type.Optional(Type.String({ maxLength: 200, description: 'the signature of the request' })),
    timestamp: Type.Optional(
      Type.String({ maxLength: 20, description: 'when the request was sent, in seconds since 1970' }),
    ),
  }),
  body: Type.String({ description: 'the form as it was sent, whose member `payload` is JSON' }),
  errors: ['ValidationError', 'AuthenticationRequired'],
});
