import { expect, test } from 'vitest'
import { secretParameters } from '../../../runtime/contract/connector/oauth.ts'

test.each([
  [{ client_id: 'c', client_secret: 's', refresh_token: 'r' }, ['s', 'r']],
  [{ client_secret: '', code_verifier: null }, []],
  [{ redirect_uri_with_code: 'https://app.example/cb?code=a%2fb&state=s' }, ['a%2fb', 'a/b']],
  [{ redirect_uri_with_code: 'https://app.example/cb#code=x=y&code=z' }, ['x=y', 'z']],
  [{ redirect_uri_with_code: 'code=a+b' }, ['a+b', 'a b']],
  [{ redirect_uri_with_code: 'https://app.example/cb?code=%' }, ['%']],
  [null, []],
  ['code', []],
])('the secret parameters of %j', (request, expected) => {
  expect(secretParameters(request).sort()).toEqual([...expected].sort())
})
