/** Writes recorded calls as test cases of a folder, one after another, and reports the outcome of each. */
import { ConfigError } from '../config/config.ts'
import type { Host } from '../main.ts'
import { NotRecordable } from '../testing/record/played.ts'
import { createRecorder, type Recorder, type Recording } from '../testing/record/recorder.ts'
import { type WrittenCase, writeCase } from '../testing/record/write-case.ts'

/** Outcome of one call. */
export type Recorded = { capability: string } & ({ written: WrittenCase } | { refused: string })

type FolderRecorder = {
  recorder: Recorder
  /** Sets the host on which the cases are replayed. Nothing is written before. */
  use(host: Host): void
  /** Resolves when the outcome of everything recorded so far was reported. */
  idle(): Promise<void>
}

/**
 * Creates a recorder for a folder.
 *
 * @param name Name of the cases. By default each is named after its call.
 */
export function recordInto(
  folder: string,
  tell: (recorded: Recorded) => void,
  name?: string,
): FolderRecorder {
  let host: Host | null = null
  let last: Promise<void> = Promise.resolve()

  async function write(recording: Recording): Promise<void> {
    const { capability } = recording
    if (host === null) throw new Error('a recording needs its host')
    const { registry, lanes } = host
    const [id = ''] = registry.ids()
    const version = registry.find(id)
    if (version === null) return tell({ capability, refused: 'the folder is not served any more' })
    try {
      const written = await writeCase(folder, recording, { version, run: lanes.run }, name)
      tell({ capability, written })
    } catch (error) {
      if (!(error instanceof NotRecordable)) throw error
      tell({ capability, refused: error.message })
    }
  }

  const failed = (capability: string) => (error: Error) =>
    tell({ capability, refused: `writing it failed: ${error.message}` })
  return {
    recorder: createRecorder(
      (recording) => {
        last = last.then(() => write(recording)).catch(failed(recording.capability))
      },
      (capability, why) => tell({ capability, refused: why }),
    ),
    use(one) {
      host = one
    },
    idle: () => last,
  }
}

const endOf = ({ error }: WrittenCase): string =>
  error === null ? '' : `; from now on it expects ${error}: delete it if that was not intended`

/** Describes the outcome in a sentence. */
export const recordedLine = (one: Recorded): string =>
  'written' in one
    ? `recorded "${one.written.name}" (connector.cases.json:${one.written.line})${one.written.replaces ? ', replacing the case of that name' : ''}${endOf(one.written)}`
    : `${one.capability} is not recorded: ${one.refused}`

/** @throws ConfigError if a call was not written */
export function orRefuse(all: readonly Recorded[]): void {
  const refused = all.find((one) => 'refused' in one)
  if (refused !== undefined) throw new ConfigError(recordedLine(refused))
}
