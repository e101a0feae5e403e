/**
 * PICTURES: screens of the running sample that pages show. They are below runtime/docs/pictures, each in a
 * light and a dark form.
 */

/** File name without its extension -> content. `npm run pictures` takes all of them again. */
export const PICTURES = {
  portal: 'My access of a person: what they have, why and until when',
  inbox: 'the inbox of an approver, with a task open and its grounds',
  'review-grid': 'the lines that a reviewer decides',
  home: 'the first page of the console',
  connector: 'a connector with its egress map',
  person: 'a person with the graph of why they have what',
  review: 'a review with its progress',
} as const

export type PictureName = keyof typeof PICTURES

export const PICTURES_FOLDER = 'runtime/docs/pictures'
export const PICTURE_TYPE = 'image/webp'

/** Returns the file of a picture, relative to the package. */
export const pictureFile = (name: string, scheme: 'light' | 'dark'): string =>
  `${PICTURES_FOLDER}/${name}${scheme === 'dark' ? '-dark' : ''}.webp`

/** Files of all pictures. */
export const PICTURE_FILES: readonly string[] = Object.keys(PICTURES).flatMap((name) => [
  pictureFile(name, 'light'),
  pictureFile(name, 'dark'),
])
