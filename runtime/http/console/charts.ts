/**
 * Charts of numbers over time, drawn as SVG. Sizes are attributes, colours are classes. Each has a table next
 * to it.
 */
import { html } from 'hono/html'
import type { Markup } from '../frame/layout.ts'

/** A line. A value is null if nothing was measured. */
type Series = { name: string; look: string; values: readonly (number | null)[] }

type Box = {
  width: number
  height: number
  left: number
  right: number
  top: number
  bottom: number
}

const WIDE: Box = { width: 720, height: 200, left: 46, right: 36, top: 12, bottom: 24 }
const NARROW: Box = { width: 340, height: 170, left: 40, right: 30, top: 12, bottom: 24 }

const round = (value: number): string => String(Math.round(value * 10) / 10)

/** Returns a slightly larger number whose quarters are round. */
export function ceiling(value: number): number {
  if (value <= 4) return 4
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= value) ?? 10
  return step * power
}

const short = (value: number): string =>
  value >= 1000 ? `${Math.round(value / 100) / 10}k` : String(Math.round(value * 10) / 10)

type Picture = {
  /** Unique on the page. */
  id: string
  title: string
  /** Description in one or two sentences. */
  text: string
  /** Labels below some of the steps, by their position. */
  marks: ReadonlyMap<number, string>
  steps: number
}

const frame = (box: Box, top: number, { marks, steps }: Picture): Markup => {
  const { width, height, left, right } = box
  const lines = [0, 1, 2, 3, 4].map((part) => {
    const y = yOf(box, top, (top * part) / 4)
    return html`<path class="grid" d="M${left} ${round(y)}H${width - right}"/><text x="${left - 6}" y="${round(y + 4)}" text-anchor="end">${short((top * part) / 4)}</text>`
  })
  const few = width === NARROW.width ? 2 : 1
  const below = [...marks]
    .filter((_, at) => at % few === 0)
    .map(
      ([at, words]) =>
        html`<text x="${round(xOf(box, steps, at))}" y="${height - 6}" text-anchor="middle">${words}</text>`,
    )
  return html`${lines}${below}`
}

const xOf = ({ width, left, right }: Box, steps: number, at: number): number =>
  left + ((width - left - right) * (at + 0.5)) / steps

const yOf = ({ height, top: above, bottom }: Box, top: number, value: number): number =>
  height - bottom - ((height - above - bottom) * value) / top

const both = (picture: Picture, draw: (box: Box) => Markup): Markup =>
  html`${[WIDE, NARROW].map(
    (
      box,
    ) => html`<svg class="chart ${box === WIDE ? 'wide-only' : 'narrow-only'}" viewBox="0 0 ${box.width} ${box.height}" role="img" aria-labelledby="${picture.id}-t${box.width} ${picture.id}-d${box.width}">
<title id="${picture.id}-t${box.width}">${picture.title}</title><desc id="${picture.id}-d${box.width}">${picture.text}</desc>
${draw(box)}</svg>`,
  )}`

/** Draws lines, each named at its end. */
export function lineChart(picture: Picture, series: readonly Series[]): Markup {
  const top = ceiling(Math.max(...series.flatMap(({ values }) => values.map((one) => one ?? 0)), 0))
  return both(picture, (box) => {
    const x = (at: number) => xOf(box, picture.steps, at)
    const y = (value: number) => yOf(box, top, value)
    const ends = series.flatMap(({ name, values }) => {
      const at = values.findLastIndex((one) => one !== null)
      return at < 0
        ? []
        : [{ name, x: Math.min(x(at), box.width - box.right) + 5, y: y(values[at] ?? 0) + 4 }]
    })
    return html`${frame(box, top, picture)}${series.map(({ look, values }) => html`<path class="e ${look}" d="${pathOf(values, x, y)}"/>`)}${apart(ends).map((one) => html`<text class="b" x="${round(one.x)}" y="${round(one.y)}">${one.name}</text>`)}`
  })
}

/** Moves names apart vertically so that they do not overlap. */
function apart<T extends { y: number }>(names: readonly T[]): T[] {
  const lowest = [...names].sort((a, b) => b.y - a.y)
  let above = Number.POSITIVE_INFINITY
  return lowest.map((one) => {
    above = Math.min(one.y, above - 12)
    return { ...one, y: above }
  })
}

/** Returns a path through the values, interrupted at each missing one. */
function pathOf(
  values: readonly (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let open = false
  return values
    .map((value, at) => {
      if (value === null) {
        open = false
        return ''
      }
      const [px, py] = [round(x(at)), round(y(value))]
      const isAlone = !open && (values[at + 1] ?? null) === null
      const said = open ? `L${px} ${py}` : isAlone ? `M${px} ${py}h5` : `M${px} ${py}`
      open = true
      return said
    })
    .join('')
}

/** Draws stacked bars. The first series is at the bottom. */
export function barChart(picture: Picture, series: readonly Series[]): Markup {
  const sums = Array.from({ length: picture.steps }, (_, at) =>
    series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  )
  const top = ceiling(Math.max(...sums, 0))
  return both(picture, (box) => {
    const width = ((box.width - box.left - box.right) / picture.steps) * 0.8
    const bars = sums.flatMap((_, at) => {
      let below = 0
      return series.flatMap(({ look, values }) => {
        const value = values[at] ?? 0
        if (value === 0) return []
        const y = yOf(box, top, below + value)
        const height = yOf(box, top, below) - y
        below += value
        return [
          html`<rect class="f ${look}" x="${round(xOf(box, picture.steps, at) - width / 2)}" y="${round(y)}" width="${round(width)}" height="${round(Math.max(height, 0.5))}"/>`,
        ]
      })
    })
    return html`${frame(box, top, picture)}${bars}`
  })
}

/** Draws a trend from 0 without an axis, for display next to its figure. */
export function spark(values: readonly number[]): Markup | string {
  const top = Math.max(...values, 0)
  if (top === 0 || values.length < 2) return ''
  const x = (at: number) => (80 * at) / (values.length - 1)
  const y = (value: number) => 19 - (18 * value) / top
  return html`<svg class="spark" viewBox="0 0 80 20" preserveAspectRatio="none" aria-hidden="true"><path class="e busy" vector-effect="non-scaling-stroke" d="${pathOf(values, x, y)}"/></svg>`
}

/** Renders the legend of a chart. */
export const key = (all: readonly { look: string; words: string; line?: boolean }[]): Markup =>
  html`<ul class="key">${all.map(
    ({ look, words, line }) =>
      html`<li><svg viewBox="0 0 20 10" aria-hidden="true">${line ? html`<path class="e ${look}" d="M0 5h20"/>` : html`<rect class="f ${look}" width="20" height="10" rx="2"/>`}</svg>${words}</li>`,
  )}</ul>`
