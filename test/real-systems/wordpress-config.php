<?php
/** Settings of a WordPress for tests: all its files are in the folder KEYWAY_WP. */
$folder = getenv('KEYWAY_WP');
$at = 'http://127.0.0.1:' . (getenv('KEYWAY_WP_PORT') ?: '80');
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:' . $folder . '/s');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {
    define($name . '_KEY', 'key of a test ' . $name);
    define($name . '_SALT', 'salt of a test ' . $name);
}
define('WP_HOME', $at);
define('WP_SITEURL', $at);
define('WP_CONTENT_DIR', $folder . '/content');
define('WP_CONTENT_URL', $at . '/wp-content');
define('WP_ENVIRONMENT_TYPE', 'local'); // application passwords without TLS
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
