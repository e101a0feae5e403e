/** Worker thread that processes the text of uploads (upload-thread.ts). */
import { parentPort } from 'node:worker_threads'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { ThreadAnswer } from './upload-thread.ts'
import { done, type UploadWork } from './work.ts'

parentPort?.on('message', ({ id, work }: { id: number; work: UploadWork }) => {
  parentPort?.postMessage({ id, ...answerTo(work) } satisfies ThreadAnswer)
})

function answerTo(work: UploadWork) {
  try {
    return { done: done(work) }
  } catch (error) {
    if (error instanceof RuntimeError)
      return { refused: { code: error.code, message: error.message } }
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}
