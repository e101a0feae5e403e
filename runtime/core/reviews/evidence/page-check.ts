/** Check that the page of evidence is complete, and can neither run nor load anything. Pure. */
import { createHash } from 'node:crypto'
import { LANGUAGE_NAMES } from '../../../words/languages.ts'
import { pageBegins } from './page.ts'

type Line = Readonly<Record<string, unknown>>

/** Creates a check, which takes the parts of the page in order. */
export function createPageCheck(wrong: (words: string) => void) {
  const whole = createHash('sha256')
  let [parts, bytes, isWhole] = [0, 0, false]

  return {
    take({ n, part, content, digest, bytes: all }: Line): void {
      parts += 1
      if (part !== parts || isWhole || typeof content !== 'string')
        return wrong(`line ${n} is not the expected part of the page`)
      if (
        part === 1 &&
        !LANGUAGE_NAMES.some((language) => content.startsWith(pageBegins(language)))
      )
        wrong(`line ${n} starts a page that does not block scripts and external resources`)
      whole.update(content)
      bytes += Buffer.byteLength(content)
      if (digest === undefined) return
      isWhole = true
      if (digest !== whole.digest('hex') || all !== bytes)
        wrong(`line ${n} ends a page that differs from the one that was created`)
    },

    /** Returns whether there is a page. */
    end(): boolean {
      if (parts > 0 && !isWhole) wrong('its page is incomplete')
      return parts > 0
    },
  }
}
