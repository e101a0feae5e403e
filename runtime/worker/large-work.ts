/** Work of the worker on large texts: judging a reply, bringing a body in or out. One after the other, and told to the host. */
import type { Duplex } from 'node:stream'
import type { Channel } from '../protocol/channel.ts'
import { MAX_QUEUED_BYTES } from './guest-request.ts'

type LargeWork = {
  /** Works on so many characters when what came before is done, and tells the host: it would take the silence for a guest's. */
  work(chars: number, act: () => Promise<void>): void
  /** Waits until half of what may queue is free: the pipe breaks at its bound, and the rest is left to small messages. */
  roomForLarge(): Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Makes the queue of one worker. What waits in it is bounded by the host, which sends so many large bodies at once. */
export function createLargeWork(channel: Channel, pipe: Duplex): LargeWork {
  let last: Promise<void> = Promise.resolve()
  return {
    work(chars, act) {
      last = last.then(async () => {
        await new Promise<void>((sent) => channel.send('working', 0, { chars }, undefined, sent))
        // What the system has not taken yet would not leave before the work is done.
        while (pipe.writableLength > 0) await pause(1)
        await act()
        channel.send('working', 0, { chars: 0 })
      })
    },
    async roomForLarge() {
      while (channel.queuedBytes() > MAX_QUEUED_BYTES / 2) await pause(5)
    },
  }
}
