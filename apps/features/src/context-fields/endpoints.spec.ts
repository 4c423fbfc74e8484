import { expect, it } from 'vitest';
import {
  AddStrategy,
  type Constraint,
  CreateContextField,
  DeleteContextField,
  GetContextField,
  ListContextFields,
  ListStrategiesOfContextField,
  RemoveLegalValue,
  SetLegalValue,
  UpdateContextField,
  ValidateConstraint,
  ValidateContextFieldName,
} from '@bunting/contracts';
import { lee, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();

const params = { name: 'region' };
const region = {
  description: 'where',
  stickiness: true,
  sortOrder: 7,
  legalValues: [{ value: 'eu' }, { value: 'us' }],
};
const constraint: Constraint = { contextName: 'region', operator: 'IN', values: ['eu'] };
const emitted = async () =>
  (await features.emittedEvents()).map(({ type, data, preData }) => ({ type, data, preData }));

it('creates, updates and deletes a context field, with events', async () => {
  const body = { ...params, ...region };
  expect(await features.call(CreateContextField, { body })).toMatchObject(body);
  await expect(features.call(CreateContextField, { body })).rejects.toMatchObject({ kind: 'NameExistsError' });
  const names = (await features.call(ListContextFields, {})).map(({ name }) => name);
  expect(names).toEqual(['appName', 'currentTime', 'environment', 'region', 'sessionId', 'userId']);

  await features.create('checkout');
  const at = { projectId: 'default', featureName: 'checkout', environment: 'development' };
  const strategy = await features.call(AddStrategy, {
    params: at,
    body: { name: 'default', constraints: [constraint] },
  });
  expect(await features.call(GetContextField, { params })).toMatchObject({ usedInFeatures: 1, usedInProjects: 1 });
  expect((await features.call(ListStrategiesOfContextField, { params })).strategies).toEqual([
    {
      id: strategy.id,
      projectId: 'default',
      featureName: 'checkout',
      strategyName: 'default',
      environment: 'development',
    },
  ]);
  await expect(features.call(DeleteContextField, { params })).rejects.toMatchObject({ kind: 'ConflictError' });
  await features.database.transaction(({ query }) => query('truncate feature cascade'));
  await features.clearOutbox();

  for (let nth = 0; nth < 2; nth++) await features.call(UpdateContextField, { params, body: {} });
  await features.call(DeleteContextField, { params });
  const cleared = { ...params, description: null, stickiness: false, sortOrder: 7, legalValues: [] };
  expect(await emitted()).toEqual([
    { type: 'context-field-updated', data: cleared, preData: body },
    { type: 'context-field-deleted', data: null, preData: cleared },
  ]);
  for (const operation of [UpdateContextField, DeleteContextField, GetContextField, ListStrategiesOfContextField]) {
    await expect(features.call(operation, { params, body: {} } as never)).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  }
});

it('validates names, legal values and constraints', async () => {
  const validate = (name: string) => features.call(ValidateContextFieldName, { body: { name } }, lee);
  expect(await validate('new')).toBeNull();
  await expect(validate('userId')).rejects.toMatchObject({ kind: 'NameExistsError' });
  await expect(validate('a b')).rejects.toMatchObject({ message: /`\/body\/name`/ });
  const twice = { name: 'twice', legalValues: [{ value: 'a' }, { value: 'a' }] };
  await expect(features.call(CreateContextField, { body: twice })).rejects.toMatchObject({
    message: /`\/body\/legalValues\/1\/value`/,
  });

  const check = (body: Constraint) => features.call(ValidateConstraint, { body });
  await features.call(CreateContextField, { body: { name: 'plan', legalValues: [{ value: 'free' }] } });
  expect(await check({ contextName: 'plan', operator: 'IN', values: ['free'] })).toBeNull();
  const refused: [Constraint, RegExp][] = [
    [{ contextName: 'plan', operator: 'IN', values: ['gold'] }, /`\/body\/values`/],
    [{ contextName: 'userId', operator: 'NUM_EQ', value: 'x' }, /`\/body\/value`/],
    [{ contextName: 'userId', operator: 'IN', values: Array.from({ length: 251 }, String) }, /limit of 250/],
  ];
  for (const [body, message] of refused) await expect(check(body)).rejects.toMatchObject({ message });
  await expect(check({ contextName: 'moon', operator: 'IN', values: ['x'] })).rejects.toMatchObject({
    kind: 'NotFoundError',
  });
});

it('sets and removes legal values one by one, without duplicates and up to a limit', async () => {
  const at = { name: 'size' };
  const values = async () => (await features.call(GetContextField, { params: at })).legalValues;
  await features.call(CreateContextField, { body: { ...at, description: 'of clothes', stickiness: true } });
  await features.call(SetLegalValue, { params: at, body: { value: 'xl' } });
  await features.call(SetLegalValue, { params: at, body: { value: 'm' } });
  await features.call(SetLegalValue, { params: at, body: { value: 'xl', description: 'extra large' } });
  expect(await values()).toEqual([{ value: 'xl', description: 'extra large' }, { value: 'm' }]);
  expect(await features.call(GetContextField, { params: at })).toMatchObject({
    description: 'of clothes',
    stickiness: true,
  });
  await features.call(RemoveLegalValue, { params: { ...at, value: 'xl' } });
  expect(await values()).toEqual([{ value: 'm' }]);

  const legalValues = Array.from({ length: 1_000 }, (_, nth) => ({ value: `${nth}` }));
  await features.call(UpdateContextField, { params: at, body: { legalValues } });
  await expect(features.call(SetLegalValue, { params: at, body: { value: 'one more' } })).rejects.toMatchObject({
    kind: 'ExceedsLimitError',
  });
  await features.call(SetLegalValue, { params: at, body: { value: '7', description: 'seven' } });
  await expect(
    features.call(SetLegalValue, { params: { name: 'nowhere' }, body: { value: 'a' } }),
  ).rejects.toMatchObject({
    kind: 'NotFoundError',
  });
});
