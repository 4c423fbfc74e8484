import { notFound } from '@bunting/contracts';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { acceptsProblemJson, sendError } from './errors.ts';

const withMembers = (members: object): Error => Object.assign(new Error('secret of the handler'), members);

const respond = async (error: unknown): Promise<{ status: number; defect: unknown }> => {
  const exchange: { defect?: unknown } = {};
  const app = fastify();
  app.decorateRequest('exchange');
  app.addHook('onRequest', async (request) => void Object.assign(request, { exchange }));
  app.get('/', (_request, reply) => sendError(reply, error));
  const { statusCode, body } = await app.inject('/');
  expect(body).not.toContain('secret');
  return { status: statusCode, defect: exchange.defect };
};

describe('an error that a handler throws', () => {
  it.each([
    ['a refusal', notFound('There is no such tag.'), 404],
    ['an error of Fastify', withMembers({ code: 'FST_ERR_BAD_URL', statusCode: 400 }), 400],
    ['an error of the plugin that serves files', withMembers({ expose: true, statusCode: 416 }), 400],
    ['a file that does not exist', withMembers({ expose: true, statusCode: 404 }), 404],
  ])('is the fault of the caller if it is %s', async (_error, error, status) => {
    expect(await respond(error)).toEqual({ status, defect: undefined });
  });

  it.each([
    ['an error of a library that has a status', withMembers({ statusCode: 404 })],
    ['a failure of Fastify', withMembers({ code: 'FST_ERR_REP_INVALID_PAYLOAD_TYPE', statusCode: 500 })],
    ['no error', 'text'],
    ['null', null],
  ])('is a defect if it is %s', async (_error, error) => {
    expect(await respond(error)).toEqual({ status: 500, defect: error });
  });
});

it.each([
  'application/problem+json',
  'Application/Problem+JSON',
  'application/json, application/problem+json',
  'application/problem+json;q=0.5, */*;q=0.1',
  'application/json;q=0.4, application/problem+json;q=0.5',
  'text/html, application/problem+json ; q=1.0',
])('a client with the Accept header %j gets problem+json', (accept) => {
  expect(acceptsProblemJson(accept)).toBe(true);
});

it.each([
  undefined,
  '',
  '*/*',
  'application/*',
  'application/json',
  'application/problem+json;q=0',
  'application/problem+json;q=nonsense',
  'application/problem+json;q=2',
  'application/problem+json;q=0.4, application/json',
  'application/problem+jsonp',
  `application/problem+json${','.repeat(5_000)}`,
])('a client with the Accept header %j gets plain JSON', (accept) => {
  expect(acceptsProblemJson(accept)).toBe(false);
});
