-- One user for each service. It may log in, owns its own database and reaches no other. docker/postgres/roles.sh runs this file before and
-- after it creates the databases. Passwords are session settings, e.g. PGOPTIONS='-c bunting.audit=…'; running it again changes them.
do $$
declare
  service text;
  role text;
begin
  foreach service in array array['features', 'change_requests', 'audit', 'search', 'integrations', 'gateway'] loop
    role := 'bunting_' || service;
    if not exists (select from pg_roles where rolname = role) then
      execute format('create role %I', role);
    end if;
    execute format(
      'alter role %I with login password %L nosuperuser nocreatedb nocreaterole noreplication nobypassrls',
      role, current_setting('bunting.' || service)
    );
    if exists (select from pg_database where datname = role) then
      execute format('alter database %I owner to %I', role, role);
      execute format('revoke all on database %I from public', role);
    end if;
  end loop;
  revoke connect on database postgres from public;
  revoke connect on database template1 from public;
end $$;
