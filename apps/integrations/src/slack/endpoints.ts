import { type Endpoint, implement } from '@bunting/bus';
import { ReceiveSlackInteraction, Refusal, refusal, takesReviews } from '@bunting/contracts';
import type { IntegrationsContext } from '../endpoints.ts';
import { hashOfToken, isSigned } from '../sending/slack-signature.ts';
import { interactionIn } from './interaction.ts';

export function slackEndpoints({ reader, transaction, slack, wakeSlack }: IntegrationsContext): readonly Endpoint[] {
  return [
    implement(ReceiveSlackInteraction, async (request) => {
      const { params, query, body, now } = request;
      const target = await reader.findTarget(params.addonId).catch((error: unknown) => {
        // Without the key of the secrets no signature can be checked.
        if (error instanceof Refusal && error.kind === 'OperationDeniedError') return undefined;
        throw error;
      });
      const { signingSecret = '', accessToken = '' } = target?.parameters ?? {};
      if (target?.enabled !== true || !takesReviews(target) || !isSigned({ ...query, body }, signingSecret, now))
        throw refusal(
          'AuthenticationRequired',
          'The request is not signed by the Slack app of this integration, or old.',
        );
      const interaction = interactionIn(body);
      // Such as a button that opens an address.
      if (interaction === undefined) return null;
      // The app may be installed in several workspaces; its messages are in the one of the token.
      const team = await slack.findTeam(target.id, hashOfToken(accessToken));
      // Where it is not known yet, as for a token that was just entered, the workspace is checked before anything is done.
      if (team !== undefined && ![team, ''].includes(interaction.teamId))
        throw refusal('AuthenticationRequired', 'The request is of another workspace than the integration.');
      await transaction(
        {
          traceparent: request.traceparent,
          deadline: request.deadline,
          signal: request.signal,
          caller: request.caller,
          now,
        },
        (tx) => tx.slack.receive(target.id, query.signature ?? '', interaction),
      );
      wakeSlack();
      return null;
    }),
  ];
}
