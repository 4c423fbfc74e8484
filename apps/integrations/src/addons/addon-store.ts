import { type Addon, notFound } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import { onlyRow, prepared, type ReadDatabase, type Tx } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import DataLoader from 'dataloader';
import type { SecretCipher } from '../unit-of-work/secrets.ts';
import { addonEvent, type Integration, maskedParameters, type Parameters, type Target } from './addon.ts';
import { findProvider } from './providers.ts';

const columns = `id, provider, description, enabled, parameters, events, projects, environments`;
const all = prepared(`select ${columns} from integration order by id`);
const withoutMask = `${columns}, secrets, set_up_by as "setUpBy"`;
const target = `select ${withoutMask} from integration where id = $1`;
const one = prepared(target);
const targets = prepared(`select ${withoutMask} from integration where id = any ($1::int[])`);
const anySecret = prepared('select id, secrets from integration where secrets is not null order by id limit 1');

export function addonNotFound(id: number) {
  return notFound(`Could not find addon with id ${id}`);
}

type TargetRow = Addon & Pick<Target, 'setUpBy'> & { readonly secrets: Buffer | null };

/** An integration as it is shown, and the entity tag that an edit of it must match. */
export interface TaggedAddon {
  readonly addon: Addon;
  readonly tag: string;
}

/** Its secrets are sealed anew by each edit, so that also one that changes nothing else changes the tag. */
function tagged({ secrets, setUpBy: _setUpBy, ...addon }: TargetRow): TaggedAddon {
  return { addon, tag: contentTag([addon, secrets?.toString('base64') ?? null]) };
}

function toTarget({ secrets, ...addon }: TargetRow, cipher: SecretCipher): Target {
  const opened = secrets === null ? {} : cipher.open(secrets, addon.id);
  return { ...addon, parameters: { ...(addon.parameters as Parameters), ...opened } };
}

/** Reads integrations outside of transactions. */
export function integrationReader(database: ReadDatabase, cipher: SecretCipher) {
  /** Reads what is asked for in the same iteration of the event loop by one statement. */
  const rows = new DataLoader<number, TargetRow | undefined>(
    async (ids) => {
      const byId = new Map((await database.read<TargetRow>(targets, [ids])).map((row) => [row.id, row]));
      return ids.map((id) => byId.get(id));
    },
    { cache: false },
  );
  return {
    /** all of them, with their sensitive parameters masked */
    all: (): Promise<Addon[]> => database.read<Addon>(all),
    get: async (id: number): Promise<TaggedAddon> => {
      const [row] = await database.read<TargetRow>(one, [id]);
      if (row === undefined) throw addonNotFound(id);
      return tagged(row);
    },
    /** an integration with its secrets; undefined if it does not exist */
    findTarget: async (id: number): Promise<Target | undefined> => {
      const row = await rows.load(id);
      return row === undefined ? undefined : toTarget(row, cipher);
    },
    /** @throws Refusal `OperationDeniedError` if the secrets in the database were sealed with another key */
    requireKey: async (): Promise<void> => {
      const [row] = await database.read<{ id: number; secrets: Buffer }>(anySecret);
      if (row !== undefined) cipher.open(row.secrets, row.id);
    },
  };
}
export type IntegrationReader = ReturnType<typeof integrationReader>;

/** Stores integrations in a transaction, with their events. */
export function integrationRepository(tx: Tx, record: RecordEvents, cipher: SecretCipher) {
  const { query } = tx;
  /** The columns of an integration: what is sensitive is sealed, and masked where it is shown. */
  const stored = (id: number, { provider, parameters, ...integration }: Integration) => {
    const sensitive = findProvider(provider)?.parameters.filter((one) => one.sensitive) ?? [];
    const secrets = Object.fromEntries(
      sensitive.flatMap(({ name }) => (parameters[name] === undefined ? [] : [[name, parameters[name]]])),
    ) as Parameters;
    const addon: Addon = { id, provider, ...integration, parameters: maskedParameters(provider, parameters) };
    const sealed = Object.keys(secrets).length === 0 ? null : cipher.seal(secrets, id);
    const values = [
      id,
      provider,
      addon.description,
      addon.enabled,
      ...[addon.parameters, addon.events, addon.projects, addon.environments].map((value) => JSON.stringify(value)),
      sealed,
    ];
    return { ...tagged({ ...addon, secrets: sealed, setUpBy: null }), values };
  };
  return {
    count: async (): Promise<number> => {
      // One creation at a time, so that the limit holds.
      await query(`select pg_advisory_xact_lock(hashtext('integrations'))`);
      return onlyRow(await query<{ count: number }>('select count(*)::int as count from integration')).count;
    },
    /** Locks an integration until the commit; undefined if it does not exist. `parameters` opens its secrets. */
    lock: async (id: number): Promise<(TaggedAddon & { readonly parameters: () => Parameters }) | undefined> => {
      const [row] = await query<TargetRow>(`${target} for update`, [id]);
      if (row === undefined) return undefined;
      return { ...tagged(row), parameters: () => toTarget(row, cipher).parameters };
    },
    add: async (integration: Integration, setUpBy: number): Promise<Addon> => {
      const { id } = onlyRow(
        await query<{ id: number }>(`select nextval(pg_get_serial_sequence('integration', 'id'))::int as id`),
      );
      const { addon, values } = stored(id, integration);
      await query(
        `insert into integration (${columns}, secrets, set_up_by)
           overriding system value values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [...values, setUpBy],
      );
      record([addonEvent({ after: addon })]);
      return addon;
    },
    save: async (before: Addon, integration: Integration, setUpBy: number | null): Promise<TaggedAddon> => {
      const { addon, values, tag } = stored(before.id, integration);
      await query(
        `update integration set provider = $2, description = $3, enabled = $4, parameters = $5, events = $6,
           projects = $7, environments = $8, secrets = $9, set_up_by = $10 where id = $1`,
        [...values, setUpBy],
      );
      record([addonEvent({ before, after: addon })]);
      return { addon, tag };
    },
    remove: async (before: Addon): Promise<void> => {
      await query('delete from integration where id = $1', [before.id]);
      record([addonEvent({ before })]);
    },
  };
}
export type IntegrationRepository = ReturnType<typeof integrationRepository>;
