import type { SchemaMigration } from '@bunting/database';

/** `slack_account` says whom the buttons that a person presses at Slack act as, `slack_link` has the links by which a person links an account. */
export const slackAccounts: SchemaMigration = {
  name: '2-expand-slack-accounts',
  statements: [
    `create table slack_account (
      id serial primary key,
      team_id text not null,
      team_name text not null,
      slack_user_id text not null,
      slack_user_name text not null,
      user_id int not null,
      created_at timestamptz not null default now()
    )`,
    'create unique index slack_account_once on slack_account (team_id, slack_user_id)',
    'create index slack_account_by_user on slack_account (user_id)',
    'alter table slack_account add constraint slack_account_user_id_foreign foreign key (user_id) references api_user (id) on delete cascade',
    `create table slack_link (
      selector text primary key,
      hash bytea not null,
      team_id text not null,
      team_name text not null,
      slack_user_id text not null,
      slack_user_name text not null,
      email text not null,
      expires_at timestamptz not null,
      constraint slack_link_hash check (octet_length(hash) = 32)
    )`,
    'create unique index slack_link_newest on slack_link (team_id, slack_user_id)',
  ],
};
