/** The judge of `operations.ts` finds where requests and answers differ from a description. */
import { expect, test } from 'vitest'
import { createJudge, type Exchange } from './operations.ts'

const answer = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

const openApi = {
  paths: {
    '/things/{id}': {
      parameters: [{ $ref: '#/components/parameters/id' }],
      get: {
        parameters: [
          { name: 'limit', in: 'query', required: true, schema: { type: 'integer', maximum: 9 } },
        ],
        responses: {
          200: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/thing' } } },
          },
          404: { description: 'Gone' },
        },
      },
      put: {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/thing' } } },
        },
        responses: { 204: { description: 'Done' } },
      },
    },
    '/things/mine': { get: { responses: { 204: { description: 'Done' } } } },
  },
  components: {
    parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
    schemas: {
      thing: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'string' }, note: { type: 'string', nullable: true } },
      },
    },
  },
}

const swagger = {
  paths: {
    '/users': {
      get: {
        parameters: [{ name: 'active', in: 'query', required: false, type: 'boolean' }],
        responses: { 200: { schema: { type: 'array', items: { $ref: '#/definitions/user' } } } },
      },
      post: {
        parameters: [
          { name: 'user', in: 'body', required: true, schema: { $ref: '#/definitions/user' } },
        ],
        responses: { 200: { schema: { $ref: '#/definitions/user' } } },
      },
    },
  },
  definitions: { user: answer },
}

const NOTHING = { sent: undefined, answered: undefined }
const get = (target: string, answered: unknown, status = 200): Exchange => ({
  method: 'GET',
  target,
  sent: undefined,
  status,
  answered,
})
const send = (method: string, target: string, sent: unknown, status: number) => ({
  ...NOTHING,
  method,
  target,
  sent,
  status,
})

test.each<[string, object, Exchange, string[]]>([
  ['a valid request and answer', openApi, get('/things/a?limit=3', { id: 'a', note: null }), []],
  ['an unknown path', openApi, get('/nothing', {}), ['is none of the description']],
  [
    'an unknown method',
    openApi,
    send('DELETE', '/things/a', undefined, 204),
    ['is none of the description'],
  ],
  ['a fixed path before one with an id', openApi, get('/things/mine', undefined, 204), []],
  [
    'an unknown query parameter',
    openApi,
    get('/things/a?limit=3&x=1', { id: 'a' }),
    ['query x is not known'],
  ],
  ['a missing query parameter', openApi, get('/things/a', { id: 'a' }), ['query limit is missing']],
  [
    'a query parameter of another type',
    openApi,
    get('/things/a?limit=many', { id: 'a' }),
    ['query limit must be integer'],
  ],
  [
    'a query parameter over its limit',
    openApi,
    get('/things/a?limit=10', { id: 'a' }),
    ['query limit must be <= 9'],
  ],
  [
    'an answer that does not fit its schema',
    openApi,
    get('/things/a?limit=3', { id: 1 }),
    ['answer/id must be string'],
  ],
  ['a missing answer body', openApi, get('/things/a?limit=3', undefined), ['answer has no body']],
  [
    'an unknown status',
    openApi,
    get('/things/a?limit=3', { id: 'a' }, 201),
    ['answer 201 is not described'],
  ],
  ['a described failure', openApi, get('/things/a?limit=3', { message: 'x' }, 404), []],
  ['an undescribed failure', openApi, get('/things/a?limit=3', { message: 'x' }, 500), []],
  ['a valid body', openApi, send('PUT', '/things/a', { id: 'a' }, 204), []],
  ['a missing body', openApi, send('PUT', '/things/a', undefined, 204), ['body is missing']],
  [
    'an unknown member',
    openApi,
    send('PUT', '/things/a', { id: 'a', ID: 1 }, 204),
    ['body/ID is not known'],
  ],
  [
    'a missing member',
    openApi,
    send('PUT', '/things/a', {}, 204),
    ["body must have required property 'id'"],
  ],
  [
    'a valid request and answer of Swagger 2',
    swagger,
    get('/users?active=true', [{ id: 'a' }]),
    [],
  ],
  [
    'an invalid query of Swagger 2',
    swagger,
    get('/users?active=maybe', []),
    ['query active must be boolean'],
  ],
  [
    'an invalid answer of Swagger 2',
    swagger,
    get('/users', [{ id: 1 }]),
    ['answer/0/id must be string'],
  ],
  [
    'an invalid body of Swagger 2',
    swagger,
    { ...send('POST', '/users', { id: 1 }, 200), answered: { id: 'a' } },
    ['body/id must be string'],
  ],
])('judges %s', (_what, description, exchange, findings) => {
  expect(createJudge(description)(exchange).findings).toEqual(findings)
})
