/**
 * First packet of a MySQL or MariaDB server, and the request for encryption that answers it.
 *
 * Source: MariaDB, Connecting (initial handshake packet, SSL request).
 */
import { RuntimeError } from '../../contract/errors/errors.ts'

/** Supported capabilities of client and server. */
const FLAGS = {
  longPassword: 1,
  foundRows: 2,
  longFlag: 4,
  withDatabase: 8,
  protocol41: 0x200,
  encryption: 0x800,
  transactions: 0x2000,
  reserved: 0x4000,
  secureConnection: 0x8000,
  pluginAuth: 0x8_0000,
  pluginAuthLength: 0x20_0000,
} as const

/** Server capabilities shown to the library: no local files, no multiple statements, no session tracking. */
const SPOKEN = Object.values(FLAGS)
  .filter((flag) => flag !== FLAGS.encryption)
  .reduce((all, flag) => all | flag, 0)
const NEEDED = FLAGS.protocol41 | FLAGS.secureConnection | FLAGS.pluginAuth

/** Size of a packet's head, in bytes: its length, and its number. */
export const HEAD_BYTES = 4

/** Returns the size of the packet at an offset, in bytes, or `short` if its head is incomplete. */
export const sizeOf = (bytes: Buffer, at = 0): number | 'short' =>
  bytes.length - at < HEAD_BYTES ? 'short' : HEAD_BYTES + bytes.readUIntLE(at, 3)

export type Greeting = {
  /** Greeting, as passed to the library. */
  masked: Buffer
  isMariadb: boolean
  offersEncryption: boolean
}

const REFUSED = 0xff
const VERSION_10 = 10
const SCRAMBLE_BYTES = 8

/**
 * Reads the first packet.
 *
 * @returns the greeting, or the number and the text of an error
 * @throws upstream_garbled
 */
export function readGreeting(
  packet: Buffer,
  from: string,
): Greeting | { errno: number; message: string } {
  const garbled = new RuntimeError('upstream_garbled', `${from} does not greet as MySQL does`)
  if (packet.length < HEAD_BYTES + 4 || packet[3] !== 0) throw garbled
  if (packet[HEAD_BYTES] === REFUSED) return readRefusal(packet)
  const end = packet.indexOf(0, HEAD_BYTES + 1)
  if (packet[HEAD_BYTES] !== VERSION_10 || end === -1) throw garbled
  const low = end + 1 + 4 + SCRAMBLE_BYTES + 1
  const high = low + 5
  const reserved = high + 3
  const second = reserved + 10
  // The second half of the scramble has 12 bytes and a terminator. The plugin's name follows.
  if (packet.length < second + 13 + 1 || packet.at(-1) !== 0) throw garbled
  const flags = (packet.readUInt16LE(low) | (packet.readUInt16LE(high) << 16)) >>> 0
  if ((flags & NEEDED) !== NEEDED) throw garbled
  const masked = Buffer.from(packet)
  const left = (flags & SPOKEN) | FLAGS.longPassword
  masked.writeUInt16LE(left & 0xffff, low)
  masked.writeUInt16LE(left >>> 16, high)
  // Set the usual length of the scramble, and clear MariaDB's own capabilities.
  masked[high + 2] = SCRAMBLE_BYTES + 13
  masked.fill(0, reserved, second)
  return {
    masked,
    isMariadb: /mariadb/i.test(packet.toString('latin1', HEAD_BYTES + 1, end)),
    offersEncryption: (flags & FLAGS.encryption) !== 0,
  }
}

/** Returns the number and the text of an error. */
function readRefusal(packet: Buffer): { errno: number; message: string } {
  const errno = packet.readUInt16LE(HEAD_BYTES + 1)
  const message = packet.toString('utf8', HEAD_BYTES + 3).replace(/^#[0-9A-Z]{5}/, '')
  return { errno, message }
}

/** Character set of UTF-8 with up to four bytes. */
const CHARSET = 45
const SSL_REQUEST_BYTES = 32

/** Returns the request for encryption. The rest of the login is sent encrypted. */
export function encryptionRequest(): Buffer {
  const packet = Buffer.alloc(HEAD_BYTES + SSL_REQUEST_BYTES)
  packet.writeUIntLE(SSL_REQUEST_BYTES, 0, 3)
  packet[3] = 1
  packet.writeUInt32LE((SPOKEN | FLAGS.encryption) >>> 0, HEAD_BYTES)
  packet.writeUInt32LE(0xff_ffff, HEAD_BYTES + 4)
  packet[HEAD_BYTES + 8] = CHARSET
  return packet
}
