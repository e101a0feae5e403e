/**
 * Signatures that the host makes for one call: selects credential and signer, and makes every text signature
 * once.
 */
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { AuthCredential } from '../../contract/connector/authentication.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { SIGNING, type SigningName } from '../../contract/connector/signing.ts'
import { placeOfIssue } from '../../contract/schema/place.ts'
import { signAws } from '../sign/aws.ts'
import { signJwt } from '../sign/jwt.ts'
import { signOAuth1 } from '../sign/oauth1.ts'
import { signServiceAccount } from '../sign/service-account.ts'
import { type RequestSigner, SignError, type SigningDeps, type TextSigner } from '../sign/signer.ts'
import { holdsMark } from './fill.ts'
import { refuseSecret } from './refuse.ts'

/** Implementation of each signer in SIGNING. */
const SIGNERS = {
  jwt: signJwt,
  service_account: signServiceAccount,
  oauth1: signOAuth1,
  aws: signAws,
} satisfies {
  [N in SigningName]: (typeof SIGNING)[N]['signs'] extends 'text' ? TextSigner<N> : RequestSigner<N>
}

/** Signer with unparsed types of options. */
type AnySigner<S> = S extends (options: never, ...rest: infer R) => infer A
  ? (options: SigningRequest['options'], ...rest: R) => A
  : never

/** Maximum number of signatures of one call. Each RSA signature takes a millisecond of the host. */
const MAX_SIGNATURES = 100

/** Requested signature, and the owner of the secret that makes it. */
type SigningRequest = {
  name: SigningName
  options: Record<string, unknown>
  owner: string
  credential: AuthCredential
  key: string | null
}

/** Reads the signature that a placeholder requests. Throws egress_secret. */
export function readSigningRequest(hex: string, secrets: CallSecrets): SigningRequest {
  const { name, options } = parse(hex)
  const { key, ...rest } = options
  if (holdsMark(JSON.stringify(rest), secrets.marks))
    throw refuseSecret(
      `What ${helperOf(name)} is to sign holds a secret of the call: a token can be read by everyone who gets it`,
    )
  const schema: v.GenericSchema = SIGNING[name].options
  const parsed = v.safeParse(schema, options)
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw refuseSecret(`${helperOf(name)}: ${placeOfIssue(issue)} ${issue.message}`)
  }
  if (key !== undefined) {
    const held = secrets.secrets.find(({ placeholder }) => placeholder === key)
    if (held === undefined)
      throw refuseSecret(
        `${helperOf(name)}: key is no secret of this call; write ctx.settings.name, of a setting that is secret`,
      )
    return {
      name,
      options: rest,
      owner: held.owner,
      // The cast: a credential without a kind. The key is used instead.
      credential: {} as AuthCredential,
      key: held.value,
    }
  }
  return { name, options: rest, ...credentialFor(name, options['credential'], secrets), key: null }
}

function parse(hex: string): { name: SigningName; options: Record<string, unknown> } {
  try {
    const value = JSON.parse(Buffer.from(hex, 'hex').toString())
    if (Object.hasOwn(SIGNING, value.do) && typeof value.options === 'object')
      return { name: value.do, options: { ...value.options } }
  } catch {
    // A guest wrote it itself. Reported below.
  }
  throw refuseSecret('What is to be signed cannot be read: use ctx.sign')
}

const helperOf = (name: SigningName): string =>
  `ctx.sign.${name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}()`

/** Returns the named credential, or the only one of the call that fits. */
function credentialFor(
  name: SigningName,
  wanted: unknown,
  { clear: { auth, credentials } }: CallSecrets,
): { owner: string; credential: AuthCredential } {
  const { kinds } = SIGNING[name]
  const all = [...(auth ? [['auth', auth] as const] : []), ...Object.entries(credentials ?? {})]
  const fitting = all.filter(
    ([id, one]) =>
      (wanted === undefined || wanted === id) && kinds.some((kind) => one[kind] !== undefined),
  )
  const [found, more] = fitting
  if (found !== undefined && more === undefined) return { owner: found[0], credential: found[1] }
  throw refuseSecret(
    found === undefined
      ? `${helperOf(name)} needs a credential of the kind ${kinds.join(' or ')}${wanted === undefined ? '' : ` with the id ${String(wanted).slice(0, 64)}`}`
      : `${helperOf(name)}: the call has several credentials that fit (${fitting.map(([id]) => id).join(', ')}); say which by { credential }`,
  )
}

/** Creates the signer of one call. */
export function createSignatures(now: () => number) {
  const made = new Map<string, Promise<string>>()
  let count = 0

  const signingDepsOf = ({ credential, key }: SigningRequest): SigningDeps => {
    count += 1
    if (count > MAX_SIGNATURES)
      throw refuseSecret(`The call has more than ${MAX_SIGNATURES} signatures: use each again`)
    return { credential, key, nowMs: now(), nonce: randomUUID().replaceAll('-', '') }
  }

  return {
    /** Returns a signed text, the same one for the same question. */
    text(signing: SigningRequest, question: string): Promise<string> {
      const known = made.get(question)
      if (known !== undefined) return known
      // The cast: egress requests a text only if SIGNING declares one, and the options were parsed by its
      // schema.
      const sign = SIGNERS[signing.name] as unknown as AnySigner<TextSigner<SigningName>>
      const signed = withSignatureName(signing, () => sign(signing.options, signingDepsOf(signing)))
      made.set(question, signed)
      return signed
    },
    /** Returns the headers that sign this request. */
    request(signing: SigningRequest, request: Parameters<RequestSigner<'aws'>>[1]) {
      // The cast: as in `text`, for a request.
      const sign = SIGNERS[signing.name] as unknown as AnySigner<RequestSigner<SigningName>>
      return withSignatureName(signing, async () =>
        sign(signing.options, request, signingDepsOf(signing)),
      )
    },
  }
}

async function withSignatureName<T>({ name }: SigningRequest, sign: () => Promise<T>): Promise<T> {
  try {
    return await sign()
  } catch (error) {
    throw error instanceof SignError ? refuseSecret(`${helperOf(name)}: ${error.message}`) : error
  }
}
