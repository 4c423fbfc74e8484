import type { SchemaStep } from '@bunting/database';

/**
 * Tells of the projects that were there before projects were told of: until then a private one would be visible to everybody.
 * Nobody writes meanwhile, so that the version told is the newest.
 */
export const everyProjectTold: SchemaStep = {
  name: '2026-11-28-every-project-told',
  statements: [
    'lock table project in share mode',
    `insert into outbox (topic, type, entity_key, payload)
     select 'state', 'project', 'project:' || id, json_build_object(
       'entity', 'project', 'id', id, 'version', nextval('project_version'),
       'state', json_build_object('id', id, 'mode', mode, 'createdBy', created_by))
     from project`,
  ],
};
