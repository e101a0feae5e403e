/** Sign-in providers: reads the file of KEYWAY_SIGN_IN and the secrets that it names. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { type KnownProvider, SignInProviders } from '../contract/models/sign-in-provider.ts'
import { placeOfIssue } from '../contract/schema/place.ts'

/** Maximum length of the file, and of a file with a secret, in characters. */
const MAX_FILE = 1_000_000
const MAX_SECRET = 4096

/**
 * Reads the providers from a file. Empty for an empty path. Paths of secret files are relative to it.
 *
 * @throws Error with the position in the file, but never with a secret
 */
export async function readProviders(file: string): Promise<readonly KnownProvider[]> {
  if (file === '') return []
  const text = await readText(file, MAX_FILE)
  const parsed = v.safeParse(SignInProviders, json(file, text))
  if (!parsed.success) {
    const [issue] = parsed.issues
    const at = placeOfIssue(issue) || 'the file'
    throw new Error(`${file}: ${at} ${issue.message}`)
  }
  return Promise.all(
    parsed.output.map(async (one) => {
      if (one.client_secret_file === undefined) return { ...one, secret: null }
      const at = path.resolve(path.dirname(file), one.client_secret_file)
      const secret = (await readText(at, MAX_SECRET)).trim()
      if (secret === '')
        throw new Error(`${at} is empty: write the client secret of ${one.id} into it`)
      return { ...one, secret }
    }),
  )
}

async function readText(file: string, most: number): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read (${error.code ?? 'unknown'})`)
  })
  if (text.length > most) throw new Error(`${file} is too large`)
  return text
}

function json(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON`)
  }
}
