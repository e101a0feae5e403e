/**
 * Pages of a search (RFC 2696), each with its own size. The library's own search has one size for all of
 * them.
 */
import { Ber, BerWriter, Control } from 'ldapts'
import { PAGES_OID } from './reply-shape.ts'

/** Control that asks for one page. `cookie` is the position where it begins, or null for the first page. */
export class PageControl extends Control {
  readonly #size: number
  readonly #cookie: Buffer | null

  constructor(size: number, cookie: Buffer | null) {
    super(PAGES_OID)
    this.#size = size
    this.#cookie = cookie
  }
  protected override writeControl(writer: BerWriter): void {
    const value = new BerWriter()
    value.startSequence()
    value.writeInt(this.#size)
    if (this.#cookie === null) value.writeString('')
    else value.writeBuffer(this.#cookie, Ber.OctetString)
    value.endSequence()
    writer.writeBuffer(value.buffer, Ber.OctetString)
  }
}
