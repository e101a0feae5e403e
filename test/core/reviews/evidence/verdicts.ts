/** The verdicts of both verifiers of evidence: that of the host, and the Python script. */
import { spawn, spawnSync } from 'node:child_process'
import path from 'node:path'
import { EvidenceError } from '../../../../runtime/core/reviews/evidence/read.ts'
import { verifyEvidence } from '../../../../runtime/core/reviews/evidence/verify.ts'

export const SCRIPT = path.join(
  import.meta.dirname,
  ...['..', '..', '..', '..', 'runtime', 'docs', 'reference', 'verify_evidence.py'],
)

export const hasPython = spawnSync('python3', ['-c', 'import hashlib']).status === 0

/** Why a file is refused, or null if it is valid. */
export async function verdictOfHost(file: Buffer, key: string): Promise<string | null> {
  try {
    await verifyEvidence([file], key)
    return null
  } catch (error) {
    if (error instanceof EvidenceError) return error.message
    throw error
  }
}

export type Flip = [at: number, by: number]

export const flipped = (file: Buffer, [at, by]: Flip): Buffer => {
  const copy = Buffer.from(file)
  copy[at] = (copy[at] ?? 0) ^ by
  return copy
}

type Given = { file?: Buffer; flips?: readonly Flip[]; files?: readonly Buffer[] }

/** Verdicts of the Python verifier in one process: on a file with each of the flips, then on other files. */
export async function verdictsOfScript(
  key: string,
  { file = Buffer.alloc(0), flips = [], files = [] }: Given,
): Promise<(string | null)[]> {
  const child = spawn('python3', ['-c', DRIVER, path.dirname(SCRIPT)], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const given = { key, flips, file: file.toString('base64') }
  child.stdin.end(JSON.stringify({ ...given, files: files.map((one) => one.toString('base64')) }))
  let output = ''
  for await (const piece of child.stdout) output += piece
  return JSON.parse(output)
}

const DRIVER = `
import base64, io, json, sys
sys.path.insert(0, sys.argv[1])
import verify_evidence as ve
given = json.load(sys.stdin)
def verdict(data):
    try:
        ve.verify(ve.lines_of(io.BytesIO(data)), given["key"])
    except ve.Refused as refused:
        return str(refused)
verdicts = []
base = base64.b64decode(given["file"])
for at, by in given["flips"]:
    verdicts.append(verdict(base[:at] + bytes([base[at] ^ by]) + base[at + 1:]))
verdicts += [verdict(base64.b64decode(one)) for one in given["files"]]
print(json.dumps(verdicts))
`
