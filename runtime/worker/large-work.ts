/**
 * The worker's own work on large texts: checking a reply, copying a body in or out. Jobs run one after
 * another, and the host is told of each.
 */
import type { Duplex } from 'node:stream'
import type { Channel } from '../protocol/channel.ts'
import { MAX_QUEUED_BYTES } from './guest-request.ts'

type LargeWork = {
  /**
   * Runs a job on a text of `chars` characters after all earlier jobs. Tells the host, which would blame the
   * silence on a guest.
   */
  work(chars: number, act: () => Promise<void>): void
  /**
   * Waits until half of the queue's limit is free: the pipe breaks at its limit, and the other half is left
   * to small messages.
   */
  roomForLarge(): Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Makes the queue of one worker. The host bounds its length, because it limits the number of large bodies.
 */
export function createLargeWork(channel: Channel, pipe: Duplex): LargeWork {
  let last: Promise<void> = Promise.resolve()
  return {
    work(chars, act) {
      last = last.then(async () => {
        await new Promise<void>((sent) => channel.send('working', 0, { chars }, undefined, sent))
        // Wait until the system has taken all bytes. The rest would not be sent before the job is done.
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
