/**
 * Signers are checked against published vectors, or by verification where signatures are not deterministic.
 */
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { compactVerify, decodeProtectedHeader, importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import type { AuthCredential } from '../../../runtime/contract/connector/authentication.ts'
import { signAws } from '../../../runtime/egress/sign/aws.ts'
import { signJwt, signText } from '../../../runtime/egress/sign/jwt.ts'
import { baseString, signOAuth1 } from '../../../runtime/egress/sign/oauth1.ts'
import { signServiceAccount } from '../../../runtime/egress/sign/service-account.ts'
import type { SignedRequest } from '../../../runtime/egress/sign/signer.ts'
import { EC_JWK, ED25519_JWK, HS_KEY, RSA_JWK } from './keys.ts'

const means = (credential: object, more: object = {}) => ({
  credential: credential as AuthCredential,
  key: null,
  nowMs: 1_700_000_000_000,
  nonce: 'n',
  ...more,
})

/** The payload of the examples in RFC 7515. */
const PAYLOAD = '{"iss":"joe",\r\n "exp":1300819380,\r\n "http://example.com/is_root":true}'
const PAYLOAD_64 =
  'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'

describe('JSON Web Signatures', () => {
  test('RS256 matches RFC 7515, appendix A.2', async () => {
    expect(await signText(PAYLOAD, { alg: 'RS256' }, JSON.stringify(RSA_JWK))).toBe(
      `eyJhbGciOiJSUzI1NiJ9.${PAYLOAD_64}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw`,
    )
  })

  test('EdDSA matches RFC 8037, appendix A.4', async () => {
    expect(
      await signText('Example of Ed25519 signing', { alg: 'EdDSA' }, JSON.stringify(ED25519_JWK)),
    ).toBe(
      'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
    )
  })

  test('HS256 is verified by the key of RFC 7515, appendix A.1', async () => {
    const key = Buffer.from(HS_KEY, 'base64url')
    // The key of the example is binary, so its hexadecimal text serves as the key.
    const jws = await signText(PAYLOAD, { alg: 'HS256' }, key.toString('hex'))
    const { payload } = await compactVerify(jws, Buffer.from(key.toString('hex')))
    expect(Buffer.from(payload).toString()).toBe(PAYLOAD)
  })

  test('ES256 is verified by the public key of RFC 7515, appendix A.3', async () => {
    const jws = await signText(PAYLOAD, {}, JSON.stringify(EC_JWK))
    const { d: _d, ...open } = EC_JWK
    const { protectedHeader } = await compactVerify(jws, await importJWK(open, 'ES256'))
    expect(protectedHeader).toEqual({ alg: 'ES256' })
  })

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
  test.each([
    ['HS384', null],
    ['HS512', null],
    ['RS384', rsa],
    ['RS512', rsa],
    ['PS256', rsa],
    ['PS384', rsa],
    ['PS512', rsa],
    ['ES384', curve('P-384')],
    ['ES512', curve('P-521')],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ] as const)('%s is verified by its key', async (alg, pair) => {
    const secret =
      pair?.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() ?? 'x'.repeat(64)
    const jws = await signText('{}', { alg }, secret)
    const key = pair ? createPublicKey(pair.privateKey) : Buffer.from(secret)
    expect((await compactVerify(jws, key as never)).protectedHeader.alg).toBe(alg)
  })

  test.each(['pkcs1', 'pkcs8'] as const)(
    'a PEM of %s with escaped line breaks is read',
    async (type) => {
      const pem = rsa.privateKey.export({ format: 'pem', type }).toString().replaceAll('\n', '\\n')
      expect(decodeProtectedHeader(await signText('{}', {}, pem))).toEqual({ alg: 'RS256' })
    },
  )

  test.each([
    [{ alg: 'RS256' }, 'a text that is no key, and longer than those words'],
    [{ alg: 'RS256' }, '-----BEGIN PRIVATE KEY-----\nno\n-----END PRIVATE KEY-----'],
    [{ alg: 'ES256' }, rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()],
  ])(
    '%j with a key that does not fit is refused with a message that does not contain the key',
    async (headers, secret) => {
      const error = await signText('{}', headers, secret).catch((one: Error) => one)
      expect(error).toMatchObject({
        message: expect.stringMatching(/private key|cannot be signed/),
      })
      expect(String(error)).not.toContain(secret.slice(30, 60))
    },
  )
})

describe('a token of ctx.sign.jwt', () => {
  const secret = 's'.repeat(40)
  const empty = { jku: '', jwk: '', x5u: '', x5c: '', x5t: '', 'x5t#S256': '', cty: '', crit: [] }
  const none = { sub: '', jti: '', act: '', client_id: '', may_act: '', exp: 0, nbf: 0, iat: 0 }
  const jwt = {
    secret,
    headers: { ...empty, alg: 'HS512', typ: 'JWT', kid: 'k1' },
    claims: { ...none, iss: 'me', aud: 'them', scope: ['a', 'b'] },
  }

  test('has the headers and claims of the credential, and expires after five minutes', async () => {
    const token = await signJwt({}, means({ jwt }))
    const { payload, protectedHeader } = await jwtVerify(token, Buffer.from(secret), {
      currentDate: new Date(1_700_000_000_000),
    })
    expect(protectedHeader).toEqual({ alg: 'HS512', typ: 'JWT', kid: 'k1' })
    expect(payload).toEqual({
      iss: 'me',
      aud: 'them',
      scope: 'a b',
      iat: 1_700_000_000,
      exp: 1_700_000_300,
    })
  })

  test('has the requested values in place of those of the credential', async () => {
    const options = {
      alg: 'HS256',
      headers: { kid: 'k2' },
      claims: { sub: 'jo', exp: 5 },
      expires_in: 9,
    } as const
    const token = await signJwt(options, means({ jwt }))
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'k2' })
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ iss: 'me', sub: 'jo', exp: 5 })
  })

  test('is signed by a key pair under its identifier, or by any secret', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const private_key = privateKey.export({ format: 'pem', type: 'sec1' }).toString()
    const token = await signJwt({}, means({ key_pair: { key_identifier: 'k3', private_key } }))
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'JWT', kid: 'k3' })
    const other = await signJwt({}, means({}, { key: 'a shared one' }))
    expect(decodeProtectedHeader(other)).toEqual({ alg: 'HS256' })
  })

  test('is refused with the algorithm none', async () => {
    const headers = { alg: 'none' }
    await expect(signJwt({ headers }, means({ jwt }))).rejects.toThrow(/alg is none of/)
  })
})

test('the assertion of a service account names the account and the user that it acts for', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = {
    client_email: 'robot@p.example',
    token_uri: 'https://t.example/token',
    private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    private_key_id: 'k1',
  }
  const service_account = {
    key,
    impersonation_email: 'admin@c.example',
    tenant_id: '',
    scopes: ['a', 'b'],
  }
  const assertion = await signServiceAccount({}, means({ service_account }))
  const currentDate = new Date(1_700_000_000_000)
  const { payload, protectedHeader } = await jwtVerify(assertion, publicKey, { currentDate })
  expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
  expect(payload).toEqual({
    iss: 'robot@p.example',
    sub: 'admin@c.example',
    scope: 'a b',
    aud: 'https://t.example/token',
    iat: 1_700_000_000,
    exp: 1_700_003_600,
  })
  const itself = await signServiceAccount({ subject: '', scopes: [] }, means({ service_account }))
  expect((await jwtVerify(itself, publicKey, { currentDate })).payload.sub).toBeUndefined()
})

describe('OAuth 1.0a', () => {
  const request: SignedRequest = {
    url: new URL('http://example.com/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b'),
    method: 'POST',
    headers: [['Content-Type', 'application/x-www-form-urlencoded']],
    body: Buffer.from('c2&a3=2+q'),
  }
  const oauth1 = {
    consumer_key: '9djdj82h48djs9d2',
    consumer_secret: 'j49sk3j29djd',
    token_id: 'kkk9d7dh3k39sjv7',
    token_secret: 'dh893hdasih9',
  }

  test('the base string matches RFC 5849, section 3.4.1.1', () => {
    const own = [
      ['oauth_consumer_key', '9djdj82h48djs9d2'],
      ['oauth_token', 'kkk9d7dh3k39sjv7'],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', '137131201'],
      ['oauth_nonce', '7d8f3e4a'],
    ] as const
    expect(baseString(request, own)).toBe(
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
    )
  })

  test('the signature matches RFC 5849, section 3.1, with its erratum 2550', () => {
    const at = { nowMs: 137_131_201_000, nonce: '7d8f3e4a' }
    const { headers, signature } = signOAuth1({ realm: 'Example' }, request, means({ oauth1 }, at))
    expect(signature).toBe('r6/TJjbCOr97/+UU0NsvSne7s5g=')
    expect(headers).toEqual([
      [
        'authorization',
        'OAuth realm="Example", oauth_consumer_key="9djdj82h48djs9d2", oauth_nonce="7d8f3e4a", oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131201", oauth_token="kkk9d7dh3k39sjv7", oauth_signature="r6%2FTJjbCOr97%2F%2BUU0NsvSne7s5g%3D"',
      ],
    ])
  })

  test('the signature of the request for a photo matches RFC 5849, section 1.2', () => {
    const photos = {
      ...oauth1,
      consumer_key: 'dpf43f3p2l4k3l03',
      consumer_secret: 'kd94hf93k423kf44',
      token_id: 'nnch734d00sl2jdk',
      token_secret: 'pfkkdhi9sl3r4s00',
    }
    const { signature } = signOAuth1(
      {},
      {
        url: new URL('http://photos.example.net/photos?file=vacation.jpg&size=original'),
        method: 'GET',
        headers: [],
        body: null,
      },
      means({ oauth1: photos }, { nowMs: 137_131_202_000, nonce: 'chapoH' }),
    )
    expect(encodeURIComponent(signature)).toBe('MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D')
  })

  test('the signature of a request without a token matches RFC 5849, section 1.2', () => {
    const initiate = {
      consumer_key: 'dpf43f3p2l4k3l03',
      consumer_secret: 'kd94hf93k423kf44',
      token_id: '',
      token_secret: '',
    }
    // The example sends its callback in a header; parameters of a query are signed in the same way.
    const url = new URL('https://photos.example.net/initiate')
    url.searchParams.set('oauth_callback', 'http://printer.example.com/ready')
    const { headers, signature } = signOAuth1(
      {},
      { url, method: 'POST', headers: [], body: null },
      means({ oauth1: initiate }, { nowMs: 137_131_200_000, nonce: 'wIjqoS' }),
    )
    expect(encodeURIComponent(signature)).toBe('74KNZJeDHnMBp0EMJ9ZHt%2FXKycU%3D')
    expect(String(headers)).not.toContain('oauth_token')
  })
})

describe('AWS Signature Version 4, by the vectors of its test suite', () => {
  const key_pair = {
    key_identifier: 'AKIDEXAMPLE',
    private_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  }
  const at = { nowMs: Date.parse('2015-08-30T12:36:00Z') }
  const options = { service: 'service', region: 'us-east-1' }
  const sign = (
    method: string,
    path: string,
    headers: [string, string][] = [],
    body = '',
    credential: object = { key_pair },
  ) =>
    signAws(
      options,
      {
        url: new URL(`https://example.amazonaws.com${path}`),
        method,
        headers,
        body: body === '' ? null : Buffer.from(body),
      },
      means(credential, at),
    )
  const form: [string, string][] = [['Content-Type', 'application/x-www-form-urlencoded']]

  test.each<[string, string, string, [string, string][], string, string]>([
    [
      'get-vanilla',
      'GET',
      '/',
      [],
      '',
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      [],
      '',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'get-unreserved',
      'GET',
      '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
      [],
      '',
      '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    ],
    [
      'get-relative',
      'GET',
      '/example/..',
      [],
      '',
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'get-header-value-trim',
      'GET',
      '/',
      [
        ['My-Header1', ' value1'],
        ['My-Header2', ' "a   b   c"'],
      ],
      '',
      'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
    ],
    [
      'post-vanilla',
      'POST',
      '/',
      [],
      '',
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'post-x-www-form-urlencoded',
      'POST',
      '/',
      form,
      'Param1=value1',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('%s', (_name, method, path, headers, body, signature) => {
    const signed = sign(method, path, headers, body)
    expect(signed.signature).toBe(signature)
    expect(signed.headers.at(-1)?.[1]).toContain(
      `Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=`,
    )
  })

  test('a session token is sent and signed; the User-Agent header is not signed', () => {
    const service_account = {
      key: { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'S', session_token: 'T' },
    }
    const { headers } = sign('GET', '/', [['User-Agent', 'x']], '', { service_account })
    expect(headers.slice(0, 2)).toEqual([
      ['x-amz-date', '20150830T123600Z'],
      ['x-amz-security-token', 'T'],
    ])
    expect(headers.at(-1)?.[1]).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token,')
  })

  test('a request to S3 has a header with the hash of its body', () => {
    const { headers } = signAws(
      { service: 's3', region: 'us-east-1' },
      { url: new URL('https://b.s3.amazonaws.com/a%20b'), method: 'GET', headers: [], body: null },
      means({ key_pair }, at),
    )
    expect(headers).toContainEqual([
      'x-amz-content-sha256',
      expect.stringMatching(/^e3b0c44298fc1c14/),
    ])
  })

  test('a key with missing members is refused with the name of a member', () => {
    expect(() => sign('GET', '/', [], '', { service_account: { key: {} } })).toThrow(
      /access_key_id/,
    )
  })
})
