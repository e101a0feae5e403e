/** CONSOLE_SETTINGS: what a setting of a host means. Its English is in `SETTINGS` of config.ts. */
import { inBoth } from './say.ts'

export const GERMAN_SETTINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    HOST: 'Adresse, an der der Host lauscht',
    PORT: 'Port, an dem der Host lauscht',
    KEYWAY_DATA_DIR: 'Ordner für übersetzte Connectors, Prüfergebnisse und Schlüssel',
    KEYWAY_PLUGINS_DIR:
      'Ordner mit abgelegten Connectors, die beobachtet werden; mehrere wie in einer Pfadliste getrennt; die eingebauten sind immer da',
    KEYWAY_DROP_IN:
      '`open`, `closed` (eine Änderung, die weiter reicht, wartet auf eine Freigabe) oder `off`; Vorgabe: `open` an einer Loopback-Adresse ohne `DATABASE_URL`, sonst `closed`',
    KEYWAY_INSTALL:
      'welche Pakete installiert werden dürfen: `trusted` (von einem vertrauten Herausgeber signiert) oder `any`; Vorgabe: `any` an einer Loopback-Adresse ohne `DATABASE_URL`, sonst `trusted`',
    KEYWAY_CONNECTORS_PATH: 'Präfix der Connector-Schnittstelle',
    KEYWAY_PRIVATE_EGRESS:
      'Freigaben privater Adressen, für Connectors jeder Herkunft: `connector_id=host:port`, durch Leerzeichen getrennt; für Webhooks `webhooks=host:port`, für Anmeldedienste `sign-in=host:port`',
    KEYWAY_PLAIN_LDAP:
      'Verzeichnisse, mit denen Connectors über `ldap:` ohne Verschlüsselung sprechen dürfen, statt mit STARTTLS: `connector_id=host:port`, durch Leerzeichen getrennt; ihre Passwörter gehen im Klartext durch das Netz',
    KEYWAY_PLAIN_SQL:
      'Datenbanken, mit denen Connectors ohne Verschlüsselung sprechen dürfen (`ctx.sql`): `connector_id=host:port`, durch Leerzeichen getrennt; Abfragen und Antworten gehen im Klartext durch das Netz',
    KEYWAY_CLEAR_SECRETS:
      'Freigaben von Geheimnissen, die der Code eines abgelegten Connectors sehen darf (`clear_secrets`; für installierte gilt `keyway grant`): `connector_id=field`, durch Leerzeichen getrennt',
    KEYWAY_RETENTION:
      'wie viele Tage abgeschlossene Datensätze aufbewahrt werden, wo die Vorgabe nicht passt: `tasks=365 sync_runs=30`',
    KEYWAY_SECRET:
      'Schlüsselmaterial für Seiten-Tokens, API-Tokens und Zugangsdaten von Anwendungen, mindestens 32 Zeichen; zum Wechseln eine Liste (neuestes zuerst, durch Komma getrennt); gleich auf jedem Host einer Datenbank; Vorgabe: wird im Datenordner erzeugt',
    KEYWAY_ADMIN_TOKEN:
      'Bearer-Token von `/operator`, auch wenn die Datenbank nicht erreichbar ist, und erstes API-Token; es gehört dem ersten Admin (`lsk_` und mindestens 32 Zeichen); ein anderes beendet das bisherige auf allen Hosts; Vorgabe: wird in einer Datei des Datenordners erzeugt',
    DATABASE_URL:
      'Ihr eigenes PostgreSQL, ab Version 15; Vorgabe: ein eingebettetes im Datenordner',
    KEYWAY_REGISTRY:
      'wo `keyway search`, `install` und `outdated` und die Konsole eines Hosts veröffentlichte Connectors finden: eine https://-Adresse oder ein Ordner, dahinter Spiegel, durch Leerzeichen getrennt; Vorgabe: keine, nichts wird geladen',
    KEYWAY_SIGN_IN:
      'JSON-Datei mit den Anbietern, über die sich Personen anmelden (OpenID Connect); Vorgabe: keine, die Anmeldung geht über Links und API-Tokens',
    KEYWAY_PUBLIC_URL:
      'unter welcher Adresse Personen die Seiten erreichen, etwa `https://keyway.acme.example`: für Links in E-Mails',
    KEYWAY_MAIL_SERVER:
      'Mailserver: `smtp://user@host:587` (STARTTLS) oder `smtps://user@host:465`; Vorgabe: keiner, es werden keine E-Mails gesendet',
    KEYWAY_MAIL_PASSWORD: 'Passwort des Benutzers, den `KEYWAY_MAIL_SERVER` nennt',
    KEYWAY_MAIL_FROM: 'Absenderadresse der E-Mails, etwa `Keyway <keyway@acme.example>`',
    KEYWAY_MAIL_LANGUAGE:
      'Sprache der E-Mails an Personen, die keine gewählt haben: `en` oder `de`',
    KEYWAY_REQUESTS_PER_MINUTE:
      'Anfragen der Kernschnittstelle je Minute und API-Token, auf jedem Host: mehrere an einer Datenbank lassen entsprechend mehr durch',
    KEYWAY_CONNECTOR_TOKEN:
      'Bearer-Token der Connector-Schnittstelle und von `/metrics`, mindestens 32 Zeichen; außer an Loopback-Adressen nötig',
    KEYWAY_OPEN_CONNECTORS: '`1`: die Connector-Schnittstelle an jeder Adresse ohne Token anbieten',
    KEYWAY_ALLOWED_HOSTS:
      'weitere Namen, die der `Host`-Header an einer Loopback-Adresse haben darf, durch Leerzeichen getrennt',
    KEYWAY_TRUSTED_PROXIES:
      'Proxys, die mit `X-Forwarded-For` ihren Aufrufer nennen: Adressen und Netze, durch Leerzeichen getrennt; Anmeldeversuche werden nach dieser Adresse gezählt',
    KEYWAY_MAX_DEADLINE_MS: 'Obergrenze für die Frist eines Aufrufs, in Millisekunden',
    KEYWAY_MAX_MEMORY_MB: 'Obergrenze für den Speicher eines Isolats, in MiB',
    KEYWAY_MAX_CONCURRENCY: 'Obergrenze für gleichzeitige Aufrufe je Mandant',
    KEYWAY_MAX_REQUESTS_PER_SECOND:
      'Obergrenze für Anfragen je Sekunde an ein System eines Mandanten',
    KEYWAY_MAX_PAGES:
      'Höchstzahl der Seiten einer Auflistung; ein Connector, der weitermacht, wird abgewiesen',
    KEYWAY_PROCESSES:
      'Prozesse, die den Port gemeinsam bedienen, jeder mit eigenen Arbeitsprozessen und einem eigenen Anteil an den Grenzen; Vorgabe: 1 bei bis zu zwei Kernen, sonst halb so viele wie Kerne, höchstens 4',
    KEYWAY_SPARE_WORKER:
      'ob jeder Prozess einen Arbeitsprozess bereithält, in dem noch kein Connector läuft, damit der erste Aufruf eines Connectors kürzer dauert: `1`, oder `0`, um dessen Speicher zu sparen (etwa 50 MB)',
    KEYWAY_STOP_NOTICE_MS:
      'wie lange ein Host beim Beenden `/readyz` ablehnt, aber noch Aufrufe annimmt, in Millisekunden; länger, als Ihr Lastverteiler zum Entfernen eines Hosts braucht',
    KEYWAY_LOG_LEVEL: 'fatal, error, warn, info, debug, trace oder silent',
    HTTPS_PROXY:
      'Proxy für das, was Connectors an https-Adressen senden; Verzeichnisse (`ctx.ldap`) und Datenbanken (`ctx.sql`) werden nie über einen Proxy erreicht',
    HTTP_PROXY: 'dasselbe für http-Adressen',
    NO_PROXY: 'Hosts, die ohne den Proxy erreicht werden',
  }),
)

export const CONSOLE_SETTINGS = {
  setting_meaning: inBoth({
    en: (_name: string, english: string) => english,
    de: (name: string, english: string) => GERMAN_SETTINGS.get(name) ?? english,
  }),
} as const
