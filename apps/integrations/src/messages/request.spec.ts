import type { Event } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { messagesFor } from './request.ts';
import { switchedOn } from '../../test/payloads.ts';

const event: Event = {
  ...switchedOn,
  tags: [{ type: 'slack', value: 'team-shop' }],
  label: 'Flag enabled',
  summary:
    '**mia\\_b** enabled **[ban<n>er](https://flags.example.org/projects/shop/features/banner)** for the **[production](/environments)** environment',
};
const publicUrl = 'https://flags.example.org';
const link = 'https://flags.example.org/projects/shop/features/banner';

function send(provider: string, parameters: Record<string, string>, overrides: Partial<Event> = {}) {
  return messagesFor({ provider, parameters }, { ...event, ...overrides }, 'msg_1', publicUrl).map((message) => ({
    ...message,
    json: JSON.parse(message.body) as Record<string, unknown>,
  }));
}

describe('a message', () => {
  it('of a webhook is the event, with the headers that users add', () => {
    const [message] = send('webhook', {
      url: 'https://example.org/',
      authorization: 'Bearer x',
      customHeaders: '{"X-Team":"shop"}',
    });
    expect(message?.json).toEqual(event);
    expect(message?.headers).toEqual({
      'content-type': 'application/json',
      authorization: 'Bearer x',
      'x-team': 'shop',
    });
  });

  it('for Slack and Mattermost has the sentence in their syntax, to the channel of the tag, else to the default one', () => {
    const parameters = { url: 'https://hooks.slack.com/x', defaultChannel: 'general', username: 'Flags' };
    const [message] = send('slack', parameters);
    expect(message?.json).toEqual({
      channel: '#team-shop',
      username: 'Flags',
      text: `*mia_b* enabled *<${link}|ban&lt;n&gt;er>* for the *production* environment\n<${link}|Open in the console>`,
    });
    expect(send('slack', parameters, { tags: [] })[0]?.json['channel']).toBe('#general');
  });

  it.each<[string, Partial<Event>, string]>([
    [
      'its environment and project',
      { type: 'change-request-configuration-updated', featureName: null },
      ' in the *production* environment in project *shop*',
    ],
    [
      'its flag',
      { type: 'feature-favorited', featureName: 'ban_ner', environment: null },
      ' of *ban_ner* in project *shop*',
    ],
    [
      'the name of what it is about',
      { type: 'role-updated', featureName: null, environment: null, project: null, data: { name: '<Release> *team*' } },
      ' of *&lt;Release&gt; *team**',
    ],
    [
      'nothing, where it has nothing',
      { type: 'tag-created', featureName: null, environment: null, project: null, data: null },
      '',
    ],
  ])('of an event whose sentence names its type alone adds %s', (_, about, added) => {
    const { type = event.type } = about;
    const summary = `**mia** triggered **${type}**`;
    const [message] = send(
      'slack',
      { url: 'https://hooks.slack.com/x', defaultChannel: 'general' },
      { ...about, label: type, summary },
    );
    expect(String(message?.json['text']).split('\n')[0]).toBe(`*mia* triggered *${type}*${added}`);
  });

  it('of the Slack app goes to every channel, with the token', () => {
    const messages = send('slack-app', { accessToken: 'xoxb-1', defaultChannels: 'general, #ops' });
    expect(messages.map(({ json }) => json['channel'])).toEqual(['#team-shop', '#general', '#ops']);
    expect(messages[0]?.headers['authorization']).toBe('Bearer xoxb-1');
    expect(send('slack-app', { accessToken: 'xoxb-1' }, { tags: [] })).toEqual([]);
  });

  it('for Teams is an adaptive card, or a card of a connector, with a link to the console', () => {
    const [workflow] = send('teamsworkflow', { url: 'https://example.org/' });
    expect(workflow?.json).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            version: '1.5',
            body: [
              { type: 'TextBlock' },
              { facts: [{ title: 'Project', value: 'shop' }, { title: 'Environment' }, { title: 'Feature' }] },
            ],
            actions: [{ type: 'Action.OpenUrl', url: link }],
          },
        },
      ],
    });
    const [connector] = send('teams', { url: 'https://example.org/' });
    expect(connector?.json).toMatchObject({
      '@type': 'MessageCard',
      summary: 'mia_b enabled ban<n>er for the production environment',
    });
  });

  it('for Datadog and New Relic has their keys in headers and what they filter by', () => {
    const [datadog] = send('datadog', { apiKey: 'dd', sourceTypeName: 'flags' });
    expect(datadog).toMatchObject({
      url: 'https://api.datadoghq.com/api/v1/events',
      headers: { 'dd-api-key': 'dd' },
      json: {
        title: 'Flag enabled: banner',
        source_type_name: 'flags',
        tags: ['project:shop', 'environment:production', 'feature:banner'],
      },
    });
    const [newRelic] = send('new-relic', { url: 'https://example.org/', licenseKey: 'nr' });
    expect(newRelic).toMatchObject({
      headers: { 'api-key': 'nr' },
      json: {
        eventType: 'UnleashServiceEvent',
        unleashEventType: 'feature-environment-enabled',
        featureName: 'banner',
      },
    });
  });

  it.each(['slack', 'slack-app', 'teams', 'teamsworkflow', 'datadog', 'new-relic'])(
    'of the kind %s stays within the limits of its provider, however long the sentence is',
    (provider) => {
      const parameters = {
        url: 'https://example.org/',
        defaultChannel: 'a',
        defaultChannels: 'a',
        accessToken: 'x',
        apiKey: 'x',
        licenseKey: 'x',
      };
      const [message] = send(provider, parameters, { summary: '😀'.repeat(30_000), featureName: 'x'.repeat(5_000) });
      expect(message?.body.length).toBeLessThan(12_000);
      expect(message?.body.isWellFormed()).toBe(true);
    },
  );
});
