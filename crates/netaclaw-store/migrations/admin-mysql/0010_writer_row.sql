INSERT IGNORE INTO netaclaw_admin_writer (id) VALUES (1);
