type Pair = [string, string]
type Init = Headers | Iterable<Iterable<string>> | Record<string, string> | null

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const BAD_VALUE = /[\0\r\n]|[^\0-\xff]/

/** WHATWG Headers. */
export class Headers {
  #list: Pair[] = []

  constructor(init: Init = null) {
    if (init === null || init === undefined) return
    const pairs = Symbol.iterator in init ? init : Object.entries(init)
    // The cast: a value with an iterator is walked, and each pair is checked.
    for (const item of pairs as Iterable<Iterable<string>>) {
      const pair = [...item]
      if (pair.length !== 2) throw new TypeError('each header must have a name and a value')
      this.append(`${pair[0]}`, `${pair[1]}`)
    }
  }

  append(name: string, value: string): void {
    this.#list.push([headerName(name), headerValue(name, value)])
  }

  delete(name: string): void {
    const key = headerName(name)
    this.#list = this.#list.filter(([other]) => other !== key)
  }

  get(name: string): string | null {
    const key = headerName(name)
    const found = this.#list.filter(([other]) => other === key)
    return found.length === 0 ? null : found.map(([, value]) => value).join(', ')
  }

  getSetCookie(): string[] {
    return this.#list.filter(([name]) => name === 'set-cookie').map(([, value]) => value)
  }

  has(name: string): boolean {
    const key = headerName(name)
    return this.#list.some(([other]) => other === key)
  }

  set(name: string, value: string): void {
    const key = headerName(name)
    const text = headerValue(name, value)
    const first = this.#list.find(([other]) => other === key)
    if (first === undefined) {
      this.#list.push([key, text])
      return
    }
    first[1] = text
    this.#list = this.#list.filter((pair) => pair === first || pair[0] !== key)
  }

  forEach(visit: (value: string, name: string, all: this) => void, self?: unknown): void {
    for (const [name, value] of this) visit.call(self, value, name, this)
  }

  /** Yields the headers sorted by name, with the values of one name joined. Each set-cookie is separate. */
  *entries(): IterableIterator<Pair> {
    const names = [...new Set(this.#list.map(([name]) => name))].sort()
    for (const name of names) {
      if (name !== 'set-cookie') yield [name, this.get(name) ?? '']
      else for (const cookie of this.getSetCookie()) yield [name, cookie]
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries()
  }
}

function headerName(name: unknown): string {
  const text = `${name}`
  if (!NAME.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a header name`)
  return text.toLowerCase()
}

function headerValue(name: unknown, value: unknown): string {
  const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
  // The value may be a secret: never put it into the message.
  if (BAD_VALUE.test(text)) throw new TypeError(`the value of the header ${name} is not allowed`)
  return text
}
