import { type Static, type TOptional, type TSchema, type TStringOptions, Type } from 'typebox';
import { Nullable, optionalMembers } from '../schemas.ts';

/** The built-in types of features. */
export const featureTypes = ['experiment', 'kill-switch', 'release', 'operational', 'permission', 'sunset'] as const;
export const FeatureType = Type.Enum([...featureTypes], { type: 'string', description: 'the type of the feature' });
export type FeatureType = Static<typeof FeatureType>;

/** Who receives a field, beside callers of the admin API and exports: searches, server SDKs, and browser SDKs. */
type Reader = 'search' | 'servers' | 'browsers';

interface FeatureField {
  /** as replies have it */
  readonly schema: TSchema;
  /** as updates and imports accept it */
  readonly body: TSchema;
  /** as the creation of a feature accepts it; its description names the default */
  readonly creation: TSchema;
  /** in a new feature, and after a patch that removes the field. If null, an empty text is stored as null */
  readonly initial: string | boolean | null;
  readonly readers: readonly Reader[];
  /** states, rows and documents of earlier versions lack the field: it is optional there, and means `initial` */
  readonly isLater?: true;
}

/**
 * The fields that describe a feature in all environments. Replies, bodies, exports, the domain type and the columns of features follow from
 * this table, as does what each reader receives.
 */
export const featureFields = {
  type: {
    schema: Type.String({
      description: 'the type of the feature: experiment, kill-switch, release, operational, permission or sunset',
    }),
    body: FeatureType,
    creation: Type.Enum([...featureTypes], {
      type: 'string',
      description: 'the type of the feature; default: release',
    }),
    initial: 'release',
    readers: ['search', 'servers'],
  },
  description: nullableText('the description of the feature', { readers: ['search', 'servers'] }),
  stale: flag('whether the feature is stale, by its age and type', {
    readers: ['search', 'servers'],
    whenCreated: 'whether the feature is stale from the start',
  }),
  impressionData: flag('whether impression data is collected', { readers: ['search', 'servers', 'browsers'] }),
} as const satisfies Readonly<Record<string, FeatureField>>;

type Fields = typeof featureFields;
export type FeatureFieldName = keyof Fields;

/** The fields of a feature, as the domain has them. */
export type FeatureFields = { readonly [K in FeatureFieldName]: Static<Fields[K]['schema']> };

export const featureFieldNames: readonly FeatureFieldName[] = namesOf(featureFields);

/** The fields of a new feature whose creator sets none of them. */
export const newFeatureMetadata = membersOf('initial');

/** The fields as replies to writes and lists of features have them. */
export const featureMetadata = membersOf('schema');

type NamesFor<R extends Reader> = {
  [K in FeatureFieldName]: R extends Fields[K]['readers'][number] ? K : never;
}[FeatureFieldName];

type IsLater<K extends FeatureFieldName> = Fields[K] extends { readonly isLater: true } ? true : false;

/** The fields that a reader receives; later ones may be missing. */
export type FeatureFieldsFor<R extends Reader> = {
  readonly [K in NamesFor<R> as IsLater<K> extends true ? never : K]: FeatureFields[K];
} & { readonly [K in NamesFor<R> as IsLater<K> extends true ? K : never]?: FeatureFields[K] };

/** The names of the fields that a reader receives. */
/* @__NO_SIDE_EFFECTS__ */
export function featureFieldsFor<R extends Reader>(reader: R): readonly NamesFor<R>[] {
  return namesOf(featureFields).filter((name): name is NamesFor<R> =>
    (featureFields[name].readers as readonly Reader[]).includes(reader),
  );
}

/** The fields that a reader receives of a new feature whose creator sets none of them. */
/* @__NO_SIDE_EFFECTS__ */
export function newFeatureFieldsFor<R extends Reader>(reader: R) {
  return Object.fromEntries(featureFieldsFor(reader).map((name) => [name, newFeatureMetadata[name]])) as {
    readonly [K in NamesFor<R>]: FeatureFields[K];
  };
}

/** The schemas of the fields that a reader receives. */
/* @__NO_SIDE_EFFECTS__ */
export function featureSchemasFor<R extends Reader>(reader: R) {
  return Object.fromEntries(
    featureFieldsFor(reader).map((name) => {
      const { schema, isLater }: FeatureField = featureFields[name];
      return [name, isLater === true ? Type.Optional(schema) : schema];
    }),
  ) as {
    readonly [K in NamesFor<R>]: IsLater<K> extends true ? TOptional<Fields[K]['schema']> : Fields[K]['schema'];
  };
}

/* @__NO_SIDE_EFFECTS__ */
function membersOf<M extends 'schema' | 'body' | 'creation' | 'initial'>(member: M) {
  return Object.fromEntries(namesOf(featureFields).map((name) => [name, featureFields[name][member]])) as {
    readonly [K in FeatureFieldName]: Fields[K][M];
  };
}

/** The same member of each field, each optional. */
/* @__NO_SIDE_EFFECTS__ */
export function optionalFeatureSchemas<M extends 'schema' | 'body' | 'creation'>(member: M) {
  return optionalMembers(membersOf(member));
}

/* @__NO_SIDE_EFFECTS__ */
function namesOf<T extends object>(fields: T): readonly (keyof T)[] {
  return Object.keys(fields) as (keyof T)[];
}

interface Options<R extends readonly Reader[]> {
  readonly readers: R;
}

/* @__NO_SIDE_EFFECTS__ */
function nullableText<const R extends readonly Reader[]>(
  description: string,
  { readers, ...limits }: Options<R> & TStringOptions,
) {
  const schema = Nullable(Type.String(), { description });
  const body = Nullable(Type.String(limits), { description });
  return { schema, body, creation: body, initial: null, readers } as const;
}

/* @__NO_SIDE_EFFECTS__ */
function flag<const R extends readonly Reader[]>(
  description: string,
  { readers, whenCreated = description }: Options<R> & { readonly whenCreated?: string },
) {
  const schema = Type.Boolean({ description });
  const creation = Type.Boolean({ description: `${whenCreated}; default: false` });
  return { schema, body: schema, creation, initial: false, readers } as const;
}
