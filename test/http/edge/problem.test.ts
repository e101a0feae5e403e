import { expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { failureOf } from '../../../runtime/http/edge/problem.ts'

const error = new RuntimeError('path_not_canonical', 'the path is odd')

test.each(['/users/%00', '//users', '/./apps/x', '/%75sers', '/tasks?x=//', '/art', '\\groups'])(
  '%s belongs to the core interface: the error is its detail',
  (path) => {
    expect(failureOf(error, '', path)).toEqual({
      body: { detail: 'the path is odd' },
      contentType: 'application/json',
    })
  },
)

test.each(['/scim/v2/Users', '//scim/v2/Users', '/scim'])(
  '%s belongs to SCIM: the error follows RFC 7644',
  (path) => {
    expect(failureOf(error, '', path)).toEqual({
      body: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        ...{ status: '400', detail: 'the path is odd' },
      },
      contentType: 'application/scim+json; charset=utf-8',
    })
  },
)

test.each(['/connectors//acme/info', '/operator//calls', '/metrics', '/', '', '*', '/userss'])(
  '%s belongs to neither: the error is one of the connector interface',
  (path) => {
    expect(failureOf(error, 'acme', path)).toMatchObject({
      body: {
        is_error: true,
        error: { error_code: 'bad_request', app_id: 'acme', message: 'the path is odd' },
      },
      contentType: 'application/json',
    })
  },
)
