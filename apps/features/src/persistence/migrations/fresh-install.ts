import type { SchemaStep } from '@bunting/database';

/** What is there before anybody has made anything: names that clients of Unleash count on. */
export const freshInstall: SchemaStep = {
  name: '2026-11-21-fresh-install',
  statements: [
    `insert into feature_type (id, name, description, lifetime_days) values
      ('release', 'Release', 'Separates shipping code from showing it.', 40),
      ('experiment', 'Experiment', 'Compares variants with each other, in A/B tests or with more.', 40),
      ('operational', 'Operational', 'Steers a step in operations, such as a migration.', 7),
      ('kill-switch', 'Kill switch', 'Turns something off when it does harm.', null),
      ('permission', 'Permission', 'Shows something to those who may use it.', null)`,
    `insert into environment (name, type, sort_order) values
      ('development', 'development', 2),
      ('production', 'production', 3)`,
    `insert into project (id, name, description) values ('default', 'Default', 'Features that belong to no other project.')`,
    `insert into project_environment (project, environment) values ('default', 'development'), ('default', 'production')`,
    `insert into strategy_type (name, description, built_in, deprecated, sort_order, parameters) values
      ('default', 'On for everyone.', true, false, 0, '[]'),
      ('flexibleRollout', 'On for a share of those who match.', true, false, 1, '[
        {"name": "rollout", "type": "percentage", "required": false, "description": "the share, in percent"},
        {"name": "stickiness", "type": "string", "required": true, "description": "the context field that keeps one user on one side"},
        {"name": "groupId", "type": "string", "required": true, "description": "features of one group treat one user alike"}]'),
      ('remoteAddress', 'On for callers at certain addresses.', true, false, 2, '[
        {"name": "IPs", "type": "list", "required": true, "description": "addresses, or networks in CIDR notation"}]'),
      ('applicationHostname', 'On for applications on certain hosts.', true, false, 3, '[
        {"name": "hostNames", "type": "list", "required": false, "description": "names of hosts"}]'),
      ('userWithId', 'On for certain users.', true, true, 4, '[
        {"name": "userIds", "type": "list", "required": false, "description": "ids of users"}]')`,
    `insert into tag_type (name, description, icon) values ('simple', 'Any word that helps to find features.', '#')`,
    `insert into context_field (name, description, sort_order, stickiness) values
      ('environment', 'The environment that the application runs in.', 0, false),
      ('userId', 'The user.', 1, false),
      ('appName', 'The name of the application.', 2, false),
      ('currentTime', 'The time of the evaluation.', 3, false),
      ('sessionId', 'The session of the user.', 4, true)`,
  ],
};
