/**
 * The picture of the README: callers, folders of runtime/, the sandbox, and the systems that the host uses.
 * Drawn from the table of layers: it cannot show a folder that the table lacks, or an arrow against an import.
 */
import { MAY_IMPORT } from '../test/layers.ts'

type Colours = Record<'ground' | 'host' | 'box' | 'line' | 'text' | 'soft' | 'accent', string>

/** Dark text on light, and light on dark, with a contrast of 4.5 or more. */
const COLOURS: Record<'light' | 'dark', Colours> = {
  light: {
    ground: '#ffffff',
    host: '#f3f5f8',
    box: '#ffffff',
    line: '#8a95a3',
    text: '#1c2430',
    soft: '#5a6675',
    accent: '#0b5cad',
  },
  dark: {
    ground: '#14171c',
    host: '#1b1f26',
    box: '#14171c',
    line: '#77828f',
    text: '#e3e7ed',
    soft: '#9aa6b5',
    accent: '#7db8f5',
  },
}

/** Sizes in user units. A unit is about a pixel if there is enough space. */
const SIZE = { width: 640, height: 600 }
const BOX = { width: 180, height: 64 }
/** Left edges of the columns. */
const COLUMNS = [38, 230, 422] as const
const LEFT = COLUMNS[0]
const FULL = COLUMNS[2] + BOX.width - LEFT

type Place = { x: number; y: number; width: number }
type Room = Place & {
  /** Folder of runtime/. Null for a box outside of it. */
  room: string | null
  title: string
  note: string
}

const at = (column: 0 | 1 | 2, y: number): Place => ({ x: COLUMNS[column], y, width: BOX.width })

/** ROOMS: boxes, from top to bottom. */
const ROOMS: readonly Room[] = [
  {
    room: null,
    title: 'Callers, people, operators',
    note: 'programs · browsers · the command line',
    x: LEFT,
    y: 14,
    width: FULL,
  },
  {
    room: 'http',
    title: 'http',
    note: 'connector, core and operator interface',
    x: LEFT,
    y: 142,
    width: FULL,
  },
  { room: 'core', title: 'core', note: 'people, apps, requests', ...at(0, 228) },
  { room: 'invoke', title: 'invoke', note: 'one call, one line', ...at(1, 228) },
  { room: 'connectors', title: 'connectors', note: 'check, install, grant', ...at(2, 228) },
  { room: 'database', title: 'database', note: 'schema, backup', ...at(0, 314) },
  { room: 'lanes', title: 'lanes', note: 'start and end workers', ...at(1, 314) },
  { room: 'egress', title: 'egress', note: 'the only way out', ...at(2, 314) },
  { room: null, title: 'PostgreSQL', note: 'embedded or yours', ...at(0, 470) },
  { room: 'worker', title: 'worker', note: 'runs connectors', ...at(1, 470) },
  { room: null, title: 'Third-party systems', note: 'what you manage', ...at(2, 470) },
]

/** Frame of the host. */
const HOST = { x: 20, y: 108, width: SIZE.width - 40, height: 288 }
/** Frame of the sandbox. */
const SANDBOX = { x: COLUMNS[1] - 12, y: 436, width: BOX.width + 24, height: 148 }

/** Arrows: sender and receiver, by titles. */
const ARROWS: readonly (readonly [from: string, to: string])[] = [
  ['http', 'core'],
  ['http', 'invoke'],
  ['http', 'connectors'],
  ['core', 'database'],
  ['invoke', 'lanes'],
  ['database', 'PostgreSQL'],
  ['lanes', 'worker'],
  ['egress', 'Third-party systems'],
]

/**
 * Returns the picture as SVG.
 *
 * @throws Error if the layout lacks something that is drawn
 */
export function picture(theme: 'light' | 'dark'): string {
  checkLayout()
  const colours = COLOURS[theme]
  const { width, height } = SIZE
  const parts = [
    `<rect width="${width}" height="${height}" fill="${colours.ground}"/>`,
    frame(HOST, colours.host, colours.line, ''),
    label(HOST.x + 18, HOST.y + 23, 'Keyway host: runs no connector code', colours.soft),
    frame(SANDBOX, 'none', colours.accent, ' stroke-dasharray="6 4"'),
    label(SANDBOX.x + 12, SANDBOX.y + 22, 'sandbox', colours.accent),
    label(SANDBOX.x + 12, SANDBOX.y + 120, 'no network, no files,', colours.soft),
    label(SANDBOX.x + 12, SANDBOX.y + 138, 'no secrets', colours.soft),
    arrow(SIZE.width / 2, 14 + BOX.height, 142, colours),
    ...ARROWS.map(([from, to]) => between(from, to, colours)),
    ...sideways(colours),
    ...ROOMS.map((one) => box(one, colours)),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif">
<title id="title">How Keyway fits together</title>
${parts.join('\n')}
</svg>
`
}

/** Reports whether a row or an entry of the table belongs to a folder. */
const isOf = (room: string, name: string): boolean => name === room || name.startsWith(`${room}/`)

/** Returns the permitted imports of a folder. */
const importsOf = (room: string): string[] =>
  Object.entries(MAY_IMPORT).flatMap(([row, allowed]) => (isOf(room, row) ? allowed : []))

function checkLayout(): void {
  const drawn = ROOMS.flatMap(({ room }) => room ?? [])
  for (const room of drawn)
    if (!Object.keys(MAY_IMPORT).some((row) => isOf(room, row)))
      throw new Error(`scripts/picture.ts draws ${room}, which is no folder of the table`)
  for (const [from, to] of ARROWS)
    if (drawn.includes(to) && importsOf(to).some((name) => isOf(from, name)))
      throw new Error(`scripts/picture.ts draws ${from} above ${to}, which imports it`)
}

const frame = (
  { x, y, width, height }: typeof HOST,
  fill: string,
  line: string,
  more: string,
): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="12" fill="${fill}" stroke="${line}"${more}/>`

const label = (x: number, y: number, text: string, fill: string, more = ''): string =>
  `<text x="${x}" y="${y}" font-size="15" fill="${fill}"${more}>${text}</text>`

function box({ title, note, x, y, width, room }: Room, colours: Colours): string {
  const middle = x + width / 2
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${BOX.height}" rx="8" fill="${colours.box}" stroke="${colours.line}"${room === null ? '' : ' stroke-width="1.5"'}/>`,
    `<text x="${middle}" y="${y + 27}" font-size="17" font-weight="600" text-anchor="middle" fill="${colours.text}">${title}</text>`,
    label(middle, y + 49, note, colours.soft, ' text-anchor="middle"'),
  ].join('\n')
}

/** Draws an arrow straight down. */
function arrow(x: number, from: number, to: number, { text }: Colours): string {
  return `<path d="M${x} ${from}V${to - 2}M${x - 5} ${to - 9}L${x} ${to - 2}L${x + 5} ${to - 9}" fill="none" stroke="${text}" stroke-width="1.5"/>`
}

function between(from: string, to: string, colours: Colours): string {
  const [begin, end] = [placed(from), placed(to)]
  return arrow(end.x + end.width / 2, begin.y + BOX.height, end.y, colours)
}

/** Draws the arrow of a connector's requests, which go from its worker through lanes to egress. */
function sideways({ text }: Colours): string[] {
  const [lanes, egress] = [placed('lanes'), placed('egress')]
  const y = lanes.y + BOX.height / 2
  const to = egress.x - 2
  return [
    `<path d="M${lanes.x + lanes.width} ${y}H${to}M${to - 7} ${y - 5}L${to} ${y}L${to - 7} ${y + 5}" fill="none" stroke="${text}" stroke-width="1.5"/>`,
  ]
}

function placed(title: string): Room {
  const found = ROOMS.find((one) => one.title === title)
  if (!found) throw new Error(`scripts/picture.ts has no ${title}`)
  return found
}
