import type { SchemaMigration } from '@bunting/database';

/** `slack_account` says whom the buttons that a person presses at Slack act as, `slack_link` has the links by which a person links an account. */
export const slackAccounts: SchemaMigration = {
  name: '2-expand-slack-accounts',
  statements: [
    `create table slack_account (
      id int generated always as identity primary key,
      team_id text not null,
      team_name text not null,
      slack_user_id text not null,
      slack_user_name text not null,
      user_id int not null references api_user (id) on delete cascade,
      created_at timestamptz not null default now(),
      unique (team_id, slack_user_id)
    )`,
    'create index slack_account_by_user on slack_account (user_id)',
    `create table slack_link (
      selector text primary key,
      hash bytea not null,
      team_id text not null,
      team_name text not null,
      slack_user_id text not null,
      slack_user_name text not null,
      email text not null,
      expires_at timestamptz not null,
      unique (team_id, slack_user_id)
    )`,
  ],
};
