/**
 * A minimal AMQP 0-9-1 client that signs in and consumes a queue, to observe which connections a broker ends.
 */
import { connect } from 'node:net'
import { until } from './until.ts'

const METHOD = 1
const FRAME_END = 0xce
/** Methods, by class and number. */
const TUNE = '10.30'
const OPENED = '10.41'
const CLOSED = '10.50'
const CHANNEL_OPENED = '20.11'
const CONSUMING = '60.21'
const DELIVERED = '60.60'

export type Consumer = {
  /** Number of delivered messages. */
  delivered(): number
  /** Whether the broker has ended the connection. */
  isClosed(): boolean
  end(): void
}

/**
 * Signs in, and consumes a queue of the virtual host `/` without acknowledging. @throws Error if the broker
 * refuses
 */
export async function consumer(
  port: number,
  { username, password }: { username: string; password: string },
  queue: string,
): Promise<Consumer> {
  const socket = connect(port, '127.0.0.1')
  const seen: string[] = []
  let left = Buffer.alloc(0)
  socket.on('error', () => seen.push(CLOSED))
  socket.on('close', () => seen.push(CLOSED))
  socket.on('data', (data: Buffer) => {
    left = Buffer.concat([left, data])
    for (let size = sizeOf(left); size <= left.length; size = sizeOf(left)) {
      if (left[0] === METHOD) seen.push(`${left.readUInt16BE(7)}.${left.readUInt16BE(9)}`)
      left = left.subarray(size)
    }
  })
  const answered = async (method: string) => {
    await until(`${method} of the broker`, () => seen.includes(method) || seen.includes(CLOSED))
    if (!seen.includes(method)) throw new Error(`No ${method} from the broker, but ${seen}`)
  }
  const send = (channel: number, method: readonly [number, number], ...parts: Buffer[]) =>
    socket.write(frame(channel, Buffer.concat([u16(...method), ...parts])))

  socket.write(Buffer.from('AMQP\0\0\x09\x01', 'latin1'))
  send(0, [10, 11], long(''), short('PLAIN'), long(`\0${username}\0${password}`), short('en_US'))
  await answered(TUNE)
  // One channel, frames of 128 KiB, no heartbeat.
  send(0, [10, 31], u16(1, 2, 0, 0))
  send(0, [10, 40], short('/'), short(''), Buffer.from([0]))
  await answered(OPENED)
  send(1, [20, 10], short(''))
  await answered(CHANNEL_OPENED)
  const withoutAck = Buffer.from([2])
  send(1, [60, 20], u16(0), short(queue), short(''), withoutAck, long(''))
  await answered(CONSUMING)
  return {
    delivered: () => seen.filter((one) => one === DELIVERED).length,
    isClosed: () => seen.includes(CLOSED),
    end: () => socket.destroy(),
  }
}

/** Size of the frame that starts here; infinite if its header is incomplete. */
const sizeOf = (bytes: Buffer): number =>
  bytes.length < 8 ? Number.POSITIVE_INFINITY : 8 + bytes.readUInt32BE(3)

const frame = (channel: number, payload: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([METHOD]),
    u16(channel),
    u16(payload.length >> 16, payload.length & 0xffff),
    payload,
    Buffer.from([FRAME_END]),
  ])

const u16 = (...numbers: number[]): Buffer =>
  Buffer.concat(numbers.map((one) => Buffer.from([one >> 8, one & 0xff])))

const short = (text: string): Buffer => Buffer.from(`${String.fromCharCode(text.length)}${text}`)

const long = (text: string): Buffer =>
  Buffer.concat([u16(0, Buffer.byteLength(text)), Buffer.from(text)])
