import { expect, test } from 'vitest'
import type { FetchInit, UpstreamReply } from '../../runtime/contract/connector/context.ts'
import { bearer, ConnectorError, client, form, path } from '../../runtime/sdk/sdk.ts'
import { reply } from './fake-context.ts'

/** A client whose upstream always gives the same reply, and the requests that it sent. */
function clientOf(answer: UpstreamReply, options: Partial<Parameters<typeof client>[1]> = {}) {
  const asked: { url: string; init: FetchInit }[] = []
  const fetch = async (url: string | URL, init: FetchInit = {}) => {
    asked.push({ url: String(url), init })
    return answer
  }
  return { api: client({ fetch }, { baseUrl: 'https://a.example/v1', ...options }), asked }
}

test('sends authorization and headers, and decodes JSON', async () => {
  const { api, asked } = clientOf(reply(200, '{"id":1}'), {
    authorization: bearer('t'),
    headers: { 'X-Tenant': 'acme', Accept: 'text/x' },
  })
  expect(await api.get(path`/users/${'u/1'}`, { query: { full: true } })).toEqual({ id: 1 })
  expect(asked).toEqual([
    {
      url: 'https://a.example/v1/users/u%2F1?full=true',
      init: {
        method: 'GET',
        headers: { accept: 'text/x', authorization: 'Bearer t', 'x-tenant': 'acme' },
      },
    },
  ])
})

test.each(['post', 'put', 'patch'] as const)('sends JSON with %s', async (method) => {
  const { api, asked } = clientOf(reply(200, 'true'))
  expect(await api[method]('/users', { name: 'Ada' }, { headers: { 'x-a': '1' } })).toBe(true)
  expect(asked[0]?.init).toEqual({
    method: method.toUpperCase(),
    headers: { accept: 'application/json', 'content-type': 'application/json', 'x-a': '1' },
    body: '{"name":"Ada"}',
  })
})

test('sends no body and no content type without JSON', async () => {
  const { api, asked } = clientOf(reply(204, ''))
  await api.post('/users/u1/enable')
  expect(asked[0]?.init).toEqual({ method: 'POST', headers: { accept: 'application/json' } })
})

test('sends another body unchanged', async () => {
  const { api, asked } = clientOf(reply(200, 'a,b'))
  const body = new URLSearchParams({ grant: 'x' })
  const answer = await api.request('POST', '/export', { body })
  expect(await answer.text()).toBe('a,b')
  expect(asked[0]?.init.body).toBe(body)
  expect(asked[0]?.init.headers).not.toHaveProperty('content-type')
})

test('sends a form as a form: null and undefined are left out, an array repeats its name', async () => {
  const { api, asked } = clientOf(reply(200, '{"session":"s1"}'))
  const fields = { user: 'ada & co', role: ['a', 'b'], after: undefined, mail: null, full: true }
  expect(await api.post('/login', form(fields))).toEqual({ session: 's1' })
  expect(String(asked[0]?.init.body)).toBe('user=ada+%26+co&role=a&role=b&full=true')
  // The sandbox sets the content type, with a boundary if it has one.
  expect(asked[0]?.init.headers).toEqual({ accept: 'application/json' })
  const data = new FormData()
  await api.put('/picture', data)
  expect(asked[1]?.init.body).toBe(data)
})

test.each([{ name: 'a\ud83d' }, { '\udc00': 1 }, ['\\\ud83d']])(
  'refuses half of a character: %j',
  async (given) => {
    const { api, asked } = clientOf(reply(200, ''))
    const refusal = {
      error_code: 'bad_request',
      message: expect.stringContaining('half of a char'),
    }
    await expect(api.post('/users', given)).rejects.toMatchObject(refusal)
    await expect(api.delete('/users', { json: given })).rejects.toMatchObject(refusal)
    expect(() => form({ name: 'a\ud83d' })).toThrow(expect.objectContaining(refusal))
    expect(asked).toEqual([])
    // Whole characters are sent, and so is a text that only looks like an escape.
    await api.post('/users', { name: '🚀 \\ud83d' })
    expect(asked).toHaveLength(1)
  },
)

test('deletes with a body if one is given', async () => {
  const { api, asked } = clientOf(reply(204, ''))
  await api.delete('/users', { json: { ids: [1] }, query: { hard: true } })
  await api.delete('/users', { body: form({ id: 1 }) })
  await api.delete('/users/1')
  expect(asked.map(({ init }) => init.body && String(init.body))).toEqual([
    '{"ids":[1]}',
    'id=1',
    undefined,
  ])
  expect(asked[0]).toMatchObject({
    url: 'https://a.example/v1/users?hard=true',
    init: { method: 'DELETE', headers: { 'content-type': 'application/json' } },
  })
})

test('uses the system’s own media type', async () => {
  const { api, asked } = clientOf(reply(200, '{}'), { contentType: 'application/scim+json' })
  await api.patch('/u', {})
  expect(asked[0]?.init.headers).toMatchObject({
    accept: 'application/scim+json',
    'content-type': 'application/scim+json',
  })
})

test.each([[204], [200]])('returns undefined for an empty body of status %i', async (status) => {
  const { api } = clientOf(reply(status, ''))
  expect(await api.delete('/users/u1')).toBeUndefined()
})

test('refuses a body that is not JSON', async () => {
  const { api } = clientOf(reply(200, '<html>', { 'content-type': 'text/html' }))
  await expect(api.get('/users')).rejects.toMatchObject({
    error_code: 'invalid_response',
    status_code: 200,
    message: '[200][https://api.example/v1/users] The answer is not JSON (text/html)',
  })
})

test('throws for a failing status, also from request', async () => {
  const { api } = clientOf(reply(404, '{"error":"gone"}'))
  const expected = { error_code: 'not_found', app_error_code: 'gone', status_code: 404 }
  await expect(api.get('/users/x')).rejects.toMatchObject(expected)
  await expect(api.request('GET', '/users/x')).rejects.toMatchObject(expected)
})

test('lets onError create the error', async () => {
  const onError = (answer: UpstreamReply) =>
    new ConnectorError('permission_denied', `no: ${answer.status}`)
  const { api } = clientOf(reply(401, ''), { onError })
  await expect(api.get('/')).rejects.toMatchObject({ error_code: 'permission_denied' })
})
